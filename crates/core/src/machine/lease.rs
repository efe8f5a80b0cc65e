//! What a lease holder does: renew, confirm, spawn, release, update_progress, complete, delay, report_usage; and being asked
//! to stop.

use std::collections::BTreeMap;

use super::budget::{Stop, check_deltas};
use super::change::{Change, Ending};
use super::context::Context;
use super::decided::{Decided, Draft};
use super::fence::{self, Fenced};
use super::outbox::outstanding;
use super::steps;
use crate::command::lease::{
    Complete, Completed, DelayUntil, LetGo, Release, Renew, Renewed, ReportUsage, UpdateProgress,
};
use crate::command::steps::ProgressNote;
use crate::error::{Code, Rejection};
use crate::id::{BudgetId, EffectId, ExecutionId, FlowId};
use crate::limits;
use crate::name::Dimension;
use crate::record::{
    BlobKey, BudgetStop, Delay, DelayReason, Effect, EffectKind, Execution, Fence, Happening, LeaseEnd, LeaseOperation,
    Progress, RecordKey, StepUnderWay, StopRequest, UsageIdentity,
};
use crate::time::Duration;

/// active → active, with a new expiry.
pub fn renew(execution: &Execution, command: &Renew, context: &Context) -> Result<Decided<Renewed>, Rejection> {
    let ttl = command.ttl.map(check_lease_ttl).transpose()?;
    check_doing(&command.doing)?;
    let fence = fence::given(command.fence.as_ref())?;
    let mut change = Change::begin(execution, context)?;
    fence::hold(&mut change, fence)?;
    let now = change.now;
    let mut renewed = Renewed {
        expires_at: now,
        stop_requested: None,
    };
    if let Some(lease) = change.lease_mut() {
        lease.ttl = ttl.unwrap_or(lease.ttl);
        lease.expires_at = now + lease.ttl;
        lease.doing.clone_from(&command.doing);
        renewed = Renewed {
            expires_at: lease.expires_at,
            stop_requested: lease.stop().cloned(),
        };
    }
    Ok(change.finish(renewed))
}

/// Refuses more steps under way than anybody could look at, and names nobody could read.
fn check_doing(doing: &[StepUnderWay]) -> Result<(), Rejection> {
    if doing.len() > limits::DOING_MAX {
        let (steps, max) = (doing.len(), limits::DOING_MAX);
        return Err(Code::InvalidInput.because(format!("{steps} steps under way, more than {max}")));
    }
    doing
        .iter()
        .try_for_each(|under_way| check_label("step", &under_way.step))
}

/// Refuses a short text that is empty, too long, or not to be shown on a line.
pub(crate) fn check_label(noun: &str, text: &str) -> Result<(), Rejection> {
    let max = limits::LABEL_BYTES_MAX;
    if text.is_empty() || text.len() > max || text.chars().any(char::is_control) {
        return Err(Code::InvalidInput.because(format!("{noun} has 1 to {max} bytes and no control characters")));
    }
    Ok(())
}

/// active → active: the lease is marked as used by its holder, and nothing else changes. A frame is appended without
/// writing the execution, so the first one under a lease confirms it: a lease that only streams does not go back unused.
pub fn confirm(execution: &Execution, fence: Option<&Fence>, context: &Context) -> Result<Decided<()>, Rejection> {
    let fence = fence::given(fence)?;
    let mut change = Change::begin(execution, context)?;
    fence::hold(&mut change, fence)?;
    Ok(change.finish(()))
}

/// The fence a call must show. One without is refused before anything else is looked at.
pub fn require_fence(fence: Option<&Fence>) -> Result<&Fence, Rejection> {
    fence::given(fence)
}

/// active → active: the holder adds to the flow its execution is a member of. What `draft` adds lands only while the lease
/// is live; the execution is confirmed in the same transaction, or guarded on.
///
/// Call it before [`super::member::join`]: a new member that depends on its own parent then finds the parent in the draft.
pub fn spawn(
    draft: &mut Draft,
    parent: &Execution,
    fence: &Fence,
    flow: FlowId,
    context: &Context,
) -> Result<(), Rejection> {
    let id = parent.id;
    if parent.definition.flow != Some(flow) {
        return Err(Code::ExecutionNotInFlow.because(format!("execution {id} is not a member of flow {flow}")));
    }
    draft.merge(confirm(parent, Some(fence), context)?.draft);
    if draft.execution(id).is_none() {
        draft.guard(RecordKey::Execution(id));
    }
    Ok(())
}

/// Refuses a lease time outside 1 s – 24 h.
pub fn check_lease_ttl(ttl: Duration) -> Result<Duration, Rejection> {
    if !(limits::LEASE_TTL_MIN..=limits::LEASE_TTL_MAX).contains(&ttl) {
        return Err(Code::InvalidInput.because(format!("a lease lasts 1 s to 24 h, not {ttl}")));
    }
    Ok(ttl)
}

/// Refuses a grant time outside 1 ms – 60 s.
pub fn check_grant_ttl(ttl: Duration) -> Result<Duration, Rejection> {
    if !(limits::GRANT_TTL_MIN..=limits::GRANT_TTL_MAX).contains(&ttl) {
        return Err(Code::InvalidInput.because(format!("a grant lasts 1 ms to 60 s, not {ttl}")));
    }
    Ok(ttl)
}

/// active → waiting: the same attempt goes on at its next claim, nothing is counted.
pub fn release(execution: &Execution, command: &Release, context: &Context) -> Result<Decided<LetGo>, Rejection> {
    let fence = fence::given(command.fence.as_ref())?;
    let mut change = Change::begin(execution, context)?;
    if let Fenced::Repeated(end) = fence::check(&change.after, fence, LeaseOperation::Release)? {
        return Ok(change.finish(let_go_before(&end)));
    }
    fence::confirm(&mut change);
    steps::add(&mut change, &command.steps)?;
    if !change.leave_lease(LeaseOperation::Release, LeaseEnd::Released) {
        return Ok(change.finish(LetGo::Cancelled));
    }
    let next_claim = change.same_attempt();
    change.requeue(next_claim, None);
    change.note(Happening::Released, None);
    Ok(change.finish(LetGo::Now))
}

/// active → delayed: the same attempt goes on not before `until`.
pub fn delay(execution: &Execution, command: &DelayUntil, context: &Context) -> Result<Decided<LetGo>, Rejection> {
    let fence = fence::given(command.fence.as_ref())?;
    let mut change = Change::begin(execution, context)?;
    if let Fenced::Repeated(end) = fence::check(&change.after, fence, LeaseOperation::Delay)? {
        return Ok(change.finish(let_go_before(&end)));
    }
    fence::confirm(&mut change);
    let until = command.until;
    steps::add_beside(&mut change, &command.steps, command.step.as_ref())?;
    if let Some(step) = &command.step {
        steps::record_sleep(&mut change, step, until)?;
    }
    if !change.leave_lease(LeaseOperation::Delay, LeaseEnd::Delayed { until }) {
        return Ok(change.finish(LetGo::Cancelled));
    }
    let next_claim = change.same_attempt();
    change.requeue(
        next_claim,
        Some(Delay {
            until,
            reason: DelayReason::Requested,
        }),
    );
    change.note(Happening::Delayed, Some(format!("until {until}")));
    Ok(change.finish(LetGo::Now))
}

/// The first answer of an operation that let the task go.
pub(crate) const fn let_go_before(end: &LeaseEnd) -> LetGo {
    match end {
        LeaseEnd::FlowCancelled { .. } => LetGo::Cancelled,
        _ => LetGo::Already,
    }
}

/// active → active, with what the worker says.
pub fn update_progress(
    execution: &Execution,
    command: &UpdateProgress,
    context: &Context,
) -> Result<Decided<()>, Rejection> {
    let fence = fence::given(command.fence.as_ref())?;
    let mut change = Change::begin(execution, context)?;
    fence::hold(&mut change, fence)?;
    note_progress(&mut change, &command.progress)?;
    Ok(change.finish(()))
}

/// Keeps what the worker says about how far it is.
pub(crate) fn note_progress(change: &mut Change<'_>, said: &ProgressNote) -> Result<(), Rejection> {
    if said.pct.is_some_and(|pct| pct > 100) {
        return Err(Code::InvalidInput.because("pct is above 100"));
    }
    if let Some(message) = &said.message {
        check_text("message", message)?;
    }
    change.after.progress = Some(Progress {
        pct: said.pct,
        message: said.message.clone(),
        at: change.now,
    });
    Ok(())
}

/// Refuses free text that is too long to keep.
pub(crate) fn check_text(noun: &str, text: &str) -> Result<(), Rejection> {
    if text.len() > limits::TEXT_BYTES_MAX {
        let length = text.len();
        return Err(Code::InvalidInput.because(format!(
            "{noun} has {length} bytes, more than {}",
            limits::TEXT_BYTES_MAX
        )));
    }
    Ok(())
}

/// active → completed. Safe to repeat with the same lease.
pub fn complete(execution: &Execution, command: &Complete, context: &Context) -> Result<Decided<Completed>, Rejection> {
    let max = context.settings.payload_bytes_max;
    if let Some(length) = command
        .result
        .as_ref()
        .map(crate::payload::Payload::len)
        .filter(|length| *length > max)
    {
        return Err(Code::PayloadTooLarge.because(format!("result has {length} bytes, more than {max}")));
    }
    let fence = fence::given(command.fence.as_ref())?;
    let mut change = Change::begin(execution, context)?;
    if let Fenced::Repeated(_) = fence::check(&change.after, fence, LeaseOperation::Complete)? {
        return Ok(change.finish(Completed::Already));
    }
    fence::confirm(&mut change);
    steps::add(&mut change, &command.steps)?;
    change.end_lease(LeaseEnd::Completed);
    change.terminate(Ending::success(command.result.as_ref()));
    if let Some(result) = &command.result {
        change.draft.blobs.push((BlobKey::Result(execution.id), result.clone()));
    }
    Ok(change.finish(Completed::Now))
}

/// What became of a usage report on the attempt; the budget's own answer follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageRecorded {
    /// It stands on the attempt and in the outbox.
    Now,
    /// It was recorded before.
    Already,
}

/// active → active: usage stands on the attempt and, until the budget has it, in the outbox.
///
/// A report that still waits in the outbox is recognised here, any other one by the budget: then [`super::outbox::arrived`]
/// takes it off the attempt again. Repeated after its lease it can only be answered, which the last few are.
pub fn report_usage(
    execution: &Execution,
    command: &ReportUsage,
    effect_id: EffectId,
    context: &Context,
) -> Result<Decided<UsageRecorded>, Rejection> {
    check_deltas(&command.deltas)?;
    let fence = fence::given(command.fence.as_ref())?;
    let mut change = Change::begin(execution, context)?;
    let (budget_id, identity) = (command.budget_id, usage_identity(execution.id, command, effect_id));
    if outstanding(&change.after, budget_id, &identity).is_some() {
        return Ok(change.finish(UsageRecorded::Already));
    }
    if let Err(refusal) = fence::hold(&mut change, fence) {
        return match change.after.reports.remembers(budget_id, &identity) {
            true => Ok(change.finish(UsageRecorded::Already)),
            false => Err(refusal),
        };
    }
    charge_attempt(&mut change, budget_id, &command.deltas, (effect_id, identity.clone()))?;
    change.after.reports.remember(budget_id, &identity);
    change.note(Happening::UsageReported, Some(format!("budget {budget_id}")));
    Ok(change.finish(UsageRecorded::Now))
}

/// Puts usage on the attempt, and into the outbox as an effect under this id and identity.
pub(crate) fn charge_attempt(
    change: &mut Change<'_>,
    budget_id: BudgetId,
    deltas: &BTreeMap<Dimension, u64>,
    (effect_id, identity): (EffectId, UsageIdentity),
) -> Result<(), Rejection> {
    let id = change.after.id;
    if change.after.outbox.len() >= limits::OUTBOX_MAX {
        return Err(Code::Unavailable.because(format!("execution {id}: too many effects wait for their budget")));
    }
    let Some(attempt) = &mut change.after.attempt else {
        return Err(fence::not_the_holder(&change.after));
    };
    let attempt_index = attempt.index;
    let usage = attempt.usage.entry(budget_id).or_default();
    for (dimension, delta) in deltas {
        let total = usage.entry(dimension.clone()).or_default();
        *total = total.saturating_add(*delta);
    }
    change.after.add_usage(deltas);
    change.after.outbox.push(Effect {
        id: effect_id,
        kind: EffectKind::ReportUsage {
            budget_id,
            attempt_index,
            deltas: deltas.clone(),
            identity,
        },
    });
    Ok(())
}

/// What a repeated report is recognised by: its dedup key, which is the budget's and may come with another request or from
/// another execution, or else its request id, or else its effect.
pub fn usage_identity(execution_id: ExecutionId, command: &ReportUsage, effect_id: EffectId) -> UsageIdentity {
    match (&command.dedup_key, &command.request_id) {
        (Some(key), _) => UsageIdentity::Key(key.clone()),
        (None, Some(request_id)) => UsageIdentity::Call(execution_id, request_id.clone()),
        (None, None) => UsageIdentity::Effect(effect_id),
    }
}

/// active → active, with a request to stop that becomes a cancellation if it is not followed in time. `false`: nobody runs it,
/// or it was asked by the same order before.
pub fn request_stop(execution: &Execution, order: &Stop, context: &Context) -> Result<Decided<bool>, Rejection> {
    let mut change = Change::begin(execution, context)?;
    let cancel_at = change.now + limits::STOP_GRACE;
    let asked_before = |stop: &BudgetStop| stop.budget_id == order.budget_id && stop.generation >= order.generation;
    let Some(lease) = change.lease_mut() else {
        return Ok(change.finish(false));
    };
    if lease.stops.iter().any(asked_before) {
        return Ok(change.finish(false));
    }
    lease.stops.retain(|stop| stop.budget_id != order.budget_id);
    lease.stops.push(BudgetStop {
        budget_id: order.budget_id,
        generation: order.generation,
        request: StopRequest {
            reason: order.reason.clone(),
            cancel_at,
        },
    });
    change.note(Happening::StopRequested, Some(order.reason.clone()));
    Ok(change.finish(true))
}

/// active → active, without the requests to stop of a budget up to this generation: the breach is over.
pub fn withdraw_stop(
    execution: &Execution,
    budget_id: BudgetId,
    generation: u64,
    context: &Context,
) -> Result<Decided<bool>, Rejection> {
    let mut change = Change::begin(execution, context)?;
    let stays = |stop: &BudgetStop| stop.budget_id != budget_id || stop.generation > generation;
    let Some(lease) = change.lease_mut().filter(|lease| !lease.stops.iter().all(stays)) else {
        return Ok(change.finish(false));
    };
    lease.stops.retain(stays);
    change.note(Happening::StopWithdrawn, Some(format!("budget {budget_id}")));
    Ok(change.finish(true))
}
