//! active → suspended: suspend, and what its timeout does.

use std::collections::BTreeMap;

use super::change::{Change, Ending};
use super::chosen::{Chosen, choose};
use super::condition::{self, Arrival, Counted, Surroundings};
use super::context::Context;
use super::decided::{ClosedReason, Decided};
use super::fence::{self, Fenced};
use super::resume;
use super::steps::{self, Wait};
use crate::command::suspend::Suspend;
use crate::digest::Digest;
use crate::error::{Code, Rejection};
use crate::id::{SignalId, SuspensionId};
use crate::name::{Category, WaitpointKey};
use crate::record::{
    CancelSource, Execution, Failure, Happening, LeaseEnd, LeaseOperation, Phase, ResumeCondition, Resumed, ResumedBy,
    Signal, Step, StepSignal, Suspension, TimeoutBehavior, Waitpoint, WaitpointRef, WaitpointUse,
};
use crate::time::Timestamp;

/// What was loaded for a suspend: the pending waitpoints it uses and every signal buffered at them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Early<'a> {
    /// The waitpoints; one that does not exist is not there.
    pub waitpoints: &'a [Waitpoint],
    /// The signals, in any order.
    pub signals: &'a [Signal],
}

/// What became of a suspend, before its tokens are minted.
#[derive(Clone, Debug, PartialEq)]
pub enum SuspendOutcome {
    /// The lease is gone; signals to these waitpoints are awaited.
    Suspended {
        /// The suspension.
        suspension_id: SuspensionId,
        /// Its waitpoints in the order they were asked for, with all that their tokens vouch for.
        waitpoints: Vec<WaitpointRef>,
    },
    /// Early signals meet the condition: the worker keeps its lease and goes on.
    AlreadySatisfied {
        /// The signals that counted, in order.
        signals: Vec<SignalId>,
        /// The place of its step, if it was to be one.
        step_seq: Option<u64>,
    },
    /// The flow is cancelled, so the execution was cancelled instead.
    Cancelled,
}

/// active → suspended, or nothing but an answer when early signals meet the condition. Safe to repeat with the same lease
/// and idempotency key.
///
/// Every pending waitpoint it uses is written, so that a signal that lands in between makes the commit conflict and the
/// suspend be decided again with that signal.
pub fn suspend(
    execution: &Execution,
    command: &Suspend,
    early: Early<'_>,
    context: &Context,
) -> Result<Decided<SuspendOutcome>, Rejection> {
    let fence = fence::given(command.fence.as_ref())?;
    let mut change = Change::begin(execution, context)?;
    if let Fenced::Repeated(end) = fence::check(&change.after, fence, LeaseOperation::Suspend)? {
        let first = suspended_before(execution, end, command)?;
        return Ok(change.finish(first));
    }
    if let Some(first) = satisfied_before(&change.after, command)? {
        return Ok(change.finish(first));
    }
    fence::confirm(&mut change);
    steps::add_beside(&mut change, &command.steps, command.step.as_ref())?;
    let step = match command.step.as_ref().map(|key| steps::begin_wait(&mut change, key)) {
        Some(Ok(Wait::Over(step))) => return Ok(change.finish(waited_before(&step))),
        Some(Ok(Wait::Begun(step))) => Some(step),
        Some(Err(refusal)) => return Err(refusal),
        None => None,
    };
    let chosen = choose(&change, command, early)?;
    let mut suspension = draw_up(&change, command, &chosen)?;
    suspension.step = step;
    count_early(&mut suspension, &chosen, early.signals)?;
    if condition::holds(&suspension.condition, &suspension.progress) {
        let asked = asked(command)?;
        return Ok(go_on(change, suspension, chosen, asked));
    }
    let end = LeaseEnd::Suspended {
        suspension_id: suspension.id,
        waitpoints: suspension.waitpoints.clone(),
        idempotency_key: command.idempotency_key.clone(),
    };
    if !change.leave_lease(LeaseOperation::Suspend, end) {
        return Ok(change.finish(SuspendOutcome::Cancelled));
    }
    Ok(wait(change, suspension, chosen))
}

/// The first answer, when this suspend ended the lease before.
fn suspended_before(execution: &Execution, end: LeaseEnd, command: &Suspend) -> Result<SuspendOutcome, Rejection> {
    let LeaseEnd::Suspended {
        suspension_id,
        waitpoints,
        idempotency_key,
    } = end
    else {
        return Ok(SuspendOutcome::Cancelled);
    };
    if command.idempotency_key.is_some() && command.idempotency_key != idempotency_key {
        let detail = format!("execution {}: another suspend ended this lease", execution.id);
        return Err(Code::AlreadySuspended
            .because(detail)
            .with("suspension_id", suspension_id.to_string()));
    }
    Ok(SuspendOutcome::Suspended {
        suspension_id,
        waitpoints,
    })
}

/// The first answer, when this suspend was not needed before. It kept the lease and consumed a pending waitpoint that no
/// other suspend can use, so it is recognised by what it asks for.
fn satisfied_before(execution: &Execution, command: &Suspend) -> Result<Option<SuspendOutcome>, Rejection> {
    // A wait of a handler's is recognised by its step.
    let unnamed = execution.resumed.as_ref().filter(|_| command.step.is_none());
    let Some(last) = unnamed.filter(|last| last.asked.is_some()) else {
        return Ok(None);
    };
    let same = last.asked == Some(asked(command)?);
    Ok(same.then(|| SuspendOutcome::AlreadySatisfied {
        signals: last.signals.clone(),
        step_seq: None,
    }))
}

/// The answer to a wait that is over.
fn waited_before(step: &Step) -> SuspendOutcome {
    SuspendOutcome::AlreadySatisfied {
        signals: step.signals.iter().map(|counted| counted.signal_id).collect(),
        step_seq: Some(step.seq),
    }
}

/// What a suspend asks for, without what is fresh each time it is sent.
fn asked(command: &Suspend) -> Result<Digest, Rejection> {
    let condition = serde_json::to_string(&command.resume_condition)
        .map_err(|error| Code::Internal.because(format!("a condition could not be written: {error}")))?;
    let parts = [command.key().to_owned(), condition].into_iter().chain(command.named());
    Ok(Digest::of("suspend", parts))
}

/// The suspension as it would be without any signal.
fn draw_up(change: &Change<'_>, command: &Suspend, chosen: &[Chosen]) -> Result<Suspension, Rejection> {
    let timeout_at = timeout_at(change, command)?;
    let around = Surroundings {
        waitpoint_keys: chosen.iter().map(|chosen| &chosen.waitpoint().key).collect(),
        times_out: timeout_at.is_some(),
    };
    condition::validate(&command.resume_condition, &around)?;
    let policy = change.after.definition.policy.suspension_policy.as_ref();
    let behavior_by_policy = policy.and_then(|policy| policy.timeout_behavior);
    Ok(Suspension {
        id: command.suspension_id(),
        waitpoints: chosen.iter().map(|chosen| chosen.waitpoint().reference()).collect(),
        condition: command.resume_condition.clone(),
        progress: condition::nothing_seen(&command.resume_condition),
        matched: Vec::new(),
        reason_code: command.reason_code,
        since: change.now,
        timeout_at,
        timeout_behavior: command
            .timeout_behavior
            .or(behavior_by_policy)
            .unwrap_or(default_behavior(&command.resume_condition)),
        resume_delay: command.resume_delay,
        escalated: false,
        step: None,
    })
}

/// What happens at the timeout when nobody said: whoever waits for nothing but time wants to go on then.
const fn default_behavior(condition: &ResumeCondition) -> TimeoutBehavior {
    match condition {
        ResumeCondition::TimeoutOnly => TimeoutBehavior::AutoResumeWithTimeoutSignal,
        _ => TimeoutBehavior::Fail,
    }
}

fn timeout_at(change: &Change<'_>, command: &Suspend) -> Result<Option<Timestamp>, Rejection> {
    let Some(timeout_at) = command.timeout_at else {
        let policy = change.after.definition.policy.suspension_policy.as_ref();
        return Ok(policy
            .and_then(|policy| policy.default_timeout)
            .map(|timeout| change.now + timeout));
    };
    if timeout_at.has_come(change.now) {
        return Err(Code::InvalidInput.because(format!("timeout_at {timeout_at} is in the past")));
    }
    if timeout_at > Timestamp::MAX {
        return Err(Code::InvalidInput.because(format!("timeout_at {timeout_at} is beyond {}", Timestamp::MAX)));
    }
    Ok(Some(timeout_at))
}

/// Counts the signals that came while the waitpoints were pending, in the order they came.
fn count_early(suspension: &mut Suspension, chosen: &[Chosen], signals: &[Signal]) -> Result<(), Rejection> {
    let buffered: BTreeMap<_, _> = signals
        .iter()
        .filter_map(|signal| Some(((signal.waitpoint_id?, signal.buffered_after?), signal)))
        .collect();
    let mut arrivals = Vec::new();
    for waitpoint in chosen.iter().map(Chosen::waitpoint) {
        for place in 0..waitpoint.buffered {
            let signal = buffered.get(&(waitpoint.id, place)).ok_or_else(|| {
                Code::Internal.because(format!("buffered signal {place} of {} was not loaded", waitpoint.id))
            })?;
            arrivals.push(Arrival {
                waitpoint_key: &waitpoint.key,
                signal,
            });
        }
    }
    arrivals.sort_by_key(|arrival| arrival.signal.accepted_at);
    for arrival in arrivals {
        count(suspension, arrival);
    }
    Ok(())
}

/// Counts one signal in an open suspension.
pub(crate) fn count(suspension: &mut Suspension, arrival: Arrival<'_>) -> Counted {
    let counted = condition::count(&suspension.condition, &mut suspension.progress, arrival);
    if counted == Counted::Forward {
        matched(suspension, arrival.signal.id, Some(arrival.waitpoint_key));
    }
    counted
}

/// Keeps a signal that counted, with where it arrived.
pub(crate) fn matched(suspension: &mut Suspension, signal_id: SignalId, at: Option<&WaitpointKey>) {
    suspension.matched.push(signal_id);
    if let Some(step) = &mut suspension.step {
        step.signals.push(StepSignal {
            signal_id,
            waitpoint_key: at.cloned(),
        });
    }
}

/// The condition holds already: the pending waitpoints close, no others are made, the worker keeps its lease.
fn go_on(
    mut change: Change<'_>,
    suspension: Suspension,
    chosen: Vec<Chosen>,
    asked: Digest,
) -> Decided<SuspendOutcome> {
    forget_pending(&mut change, &suspension);
    for chosen in chosen {
        if let Chosen::Pending(waitpoint) = chosen {
            change.draft.put(Waitpoint {
                usage: WaitpointUse::Consumed,
                ..waitpoint
            });
        }
    }
    let step_seq = suspension.step.as_ref().map(|step| step.seq);
    change.after.resumed = match suspension.step {
        // Its step says all of it.
        Some(step) => {
            steps::end_wait(&mut change, step, ResumedBy::Signals);
            None
        }
        None => Some(Resumed {
            suspension_id: suspension.id,
            signals: suspension.matched.clone(),
            step_seq: None,
            at: change.now,
            by: ResumedBy::Signals,
            asked: Some(asked),
        }),
    };
    change.note(
        Happening::Resumed,
        Some("early signals met the condition before it suspended".to_owned()),
    );
    change.finish(SuspendOutcome::AlreadySatisfied {
        signals: suspension.matched,
        step_seq,
    })
}

/// The lease is over: the execution waits at its waitpoints.
fn wait(mut change: Change<'_>, suspension: Suspension, chosen: Vec<Chosen>) -> Decided<SuspendOutcome> {
    forget_pending(&mut change, &suspension);
    for chosen in chosen {
        match chosen {
            Chosen::Fresh(waitpoint) => change.draft.create(waitpoint),
            Chosen::Pending(waitpoint) => change.draft.put(waitpoint),
        }
    }
    let outcome = SuspendOutcome::Suspended {
        suspension_id: suspension.id,
        waitpoints: suspension.waitpoints.clone(),
    };
    if let Some(step) = &suspension.step {
        steps::make_room_for(&mut change, step);
    }
    change.after.resumed = None;
    change.after.phase = Phase::Suspended(suspension);
    change.note(Happening::Suspended, None);
    change.finish(outcome)
}

/// Used and expired pending waitpoints leave the execution's list.
fn forget_pending(change: &mut Change<'_>, suspension: &Suspension) {
    let now = change.now;
    change.after.pending_waitpoints.retain(|pending| {
        let used = suspension
            .waitpoints
            .iter()
            .any(|waitpoint| waitpoint.id == pending.waitpoint.id);
        !used && !pending.expires_at.has_come(now)
    });
}

/// The timeout of the open suspension has come.
pub(crate) fn time_out(change: &mut Change<'_>) {
    const REASON: &str = "its suspension timed out";
    let Some(suspension) = change.after.suspension() else {
        return;
    };
    let behavior = suspension.timeout_behavior;
    change.note(Happening::SuspensionTimedOut, None);
    match behavior {
        TimeoutBehavior::Fail => {
            let failure = Failure {
                reason: REASON.to_owned(),
                category: Category::timeout(),
            };
            change.terminate(Ending::failed(failure, ClosedReason::SuspensionTimeout));
        }
        TimeoutBehavior::Cancel => change.terminate(Ending {
            closed: ClosedReason::SuspensionTimeout,
            ..Ending::cancelled(REASON.to_owned(), CancelSource::SystemTimeout)
        }),
        TimeoutBehavior::Expire => change.terminate(Ending::expired(REASON, ClosedReason::SuspensionTimeout)),
        TimeoutBehavior::AutoResumeWithTimeoutSignal => resume::by_timeout(change),
        TimeoutBehavior::Escalate => escalate(change),
    }
}

/// It stays suspended and signals still count, but it is shown to a person first.
fn escalate(change: &mut Change<'_>) {
    if let Phase::Suspended(suspension) = &mut change.after.phase {
        suspension.escalated = true;
    }
    change.note(Happening::Escalated, None);
}
