//! suspended → resumable: the move every way out of a suspension shares, resume_execution and the timeout's own signal.

use super::change::Change;
use super::context::Context;
use super::decided::Decided;
use super::lease::check_text;
use super::steps;
use super::suspend::matched;
use crate::command::signal::{ResumeExecution, ResumeOutcome};
use crate::error::{Code, Rejection};
use crate::id::{SignalId, SuspensionId};
use crate::name::{Identity, SignalName};
use crate::record::{
    Delay, DelayReason, Execution, Happening, Phase, RequestOutcome, Resumed, ResumedBy, Signal, SignalEffect,
};

/// suspended → resumable or resume-delayed: the same attempt goes on, at its old place, with the signals that counted.
/// A member must have passed the gate of its flow before.
pub(crate) fn resume(change: &mut Change<'_>, by: ResumedBy, detail: Option<String>) {
    let Some(suspension) = change.after.suspension().cloned() else {
        return;
    };
    let mut next_claim = change.same_attempt();
    next_claim.resumed = true;
    let delay = Delay {
        until: change.now + suspension.resume_delay,
        reason: DelayReason::ResumeDelay,
    };
    let step_seq = suspension.step.as_ref().map(|step| step.seq);
    if let Some(step) = suspension.step {
        steps::end_wait(change, step, by);
    }
    change.after.resumed = Some(Resumed {
        suspension_id: suspension.id,
        signals: suspension.matched,
        step_seq,
        at: change.now,
        by,
        asked: None,
    });
    change.requeue(next_claim, Some(delay));
    change.note(Happening::Resumed, detail);
}

/// suspended → resumable whatever the condition says, because an operator says so. The resume delay applies.
pub fn resume_execution(
    execution: &Execution,
    command: &ResumeExecution,
    context: &Context,
) -> Result<Decided<ResumeOutcome>, Rejection> {
    if let Some(reason) = &command.reason {
        check_text("reason", reason)?;
    }
    let mut change = Change::begin(execution, context)?;
    let id = execution.id;
    let open = change.after.suspension().map(|suspension| suspension.id);
    // What a request ended once is not this one: whoever repeats it does not know of the suspension that is open now.
    let ended_another = |outcome: &RequestOutcome| matches!(outcome, RequestOutcome::Resumed { suspension_id } if Some(*suspension_id) != open);
    if change
        .after
        .requests
        .find(command.request_id.as_ref())
        .any(ended_another)
    {
        return Ok(change.finish(ResumeOutcome::Already));
    }
    let Some(suspension_id) = open else {
        return Err(Code::ExecutionNotSuspended.because(format!("execution {id} is not suspended")));
    };
    if !change.pass_gate() {
        return Err(Code::FlowAlreadyTerminal.because(format!("the flow of execution {id} is cancelled")));
    }
    resume(&mut change, ResumedBy::Operator, command.reason.clone());
    change
        .after
        .requests
        .remember(command.request_id.as_ref(), RequestOutcome::Resumed { suspension_id });
    Ok(change.finish(ResumeOutcome::Now))
}

/// suspended → resumable with a signal named `timeout`, because its timeout has come; cancelled behind a cancelled gate.
pub(crate) fn by_timeout(change: &mut Change<'_>) {
    if !change.pass_gate() {
        return change.cancel_with_flow();
    }
    let Some(suspension) = change.after.suspension() else {
        return;
    };
    let signal = timeout_signal(change, suspension.id);
    if let Phase::Suspended(suspension) = &mut change.after.phase {
        matched(suspension, signal.id, None);
    }
    change.draft.create(signal);
    resume(change, ResumedBy::Timeout, None);
}

/// The id of the signal a suspension's timeout sends. Time has no fresh ids, so the suspension lends its own: it is unique,
/// has one timeout, and no sender may use it.
pub(crate) const fn timeout_signal_id(suspension_id: SuspensionId) -> SignalId {
    SignalId::from_uuid(suspension_id.uuid())
}

fn timeout_signal(change: &Change<'_>, suspension_id: SuspensionId) -> Signal {
    Signal {
        id: timeout_signal_id(suspension_id),
        execution_id: change.after.id,
        waitpoint_id: None,
        name: SignalName::timeout(),
        category: "timeout".to_owned(),
        source_type: "engine".to_owned(),
        source_identity: Identity::engine(),
        source_verified: true,
        correlation_id: None,
        idempotency_key: None,
        accepted_at: change.now,
        effect: SignalEffect::ResumeConditionSatisfied,
        payload_bytes: 0,
        buffered_after: None,
        carried: Default::default(),
    }
}
