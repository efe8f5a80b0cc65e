//! What a lease holder does: renew, confirm, spawn, release, update_progress, complete, delay, report_usage; and being asked
//! to stop.

use super::budget::check_deltas;
use super::change::{Change, Ending};
use super::context::Context;
use super::fence::{self, Fenced};
use super::step::{Draft, Step};
use crate::command::lease::{
    Complete, Completed, DelayUntil, LetGo, Release, Renew, Renewed, ReportUsage, UpdateProgress, UsageRecorded,
};
use crate::digest::Digest;
use crate::error::{Code, Rejection};
use crate::id::FlowId;
use crate::limits;
use crate::name::RequestId;
use crate::record::{
    BlobKey, Delay, DelayReason, Effect, EffectKind, Execution, Fence, Happening, LeaseEnd, LeaseOperation, Progress,
    RecordKey, RequestOutcome, StopRequest,
};
use crate::time::Duration;

/// active → active, with a new expiry.
pub fn renew(execution: &Execution, command: &Renew, context: &Context) -> Result<Step<Renewed>, Rejection> {
    let ttl = command.ttl.map(check_lease_ttl).transpose()?;
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
        renewed = Renewed {
            expires_at: lease.expires_at,
            stop_requested: lease.stop.clone(),
        };
    }
    Ok(change.finish(renewed))
}

/// active → active: the lease is marked as used by its holder, and nothing else changes. A frame is appended without
/// writing the execution, so the first one under a lease confirms it: a lease that only streams does not go back unused.
pub fn confirm(execution: &Execution, fence: Option<&Fence>, context: &Context) -> Result<Step<()>, Rejection> {
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
pub fn release(execution: &Execution, command: &Release, context: &Context) -> Result<Step<LetGo>, Rejection> {
    let fence = fence::given(command.fence.as_ref())?;
    let mut change = Change::begin(execution, context)?;
    if let Fenced::Repeated(end) = fence::check(&change.after, fence, LeaseOperation::Release)? {
        return Ok(change.finish(let_go_before(&end)));
    }
    fence::confirm(&mut change);
    if !change.leave_lease(LeaseOperation::Release, LeaseEnd::Released) {
        return Ok(change.finish(LetGo::Cancelled));
    }
    let next_claim = change.same_attempt();
    change.requeue(next_claim, None);
    change.note(Happening::Released, None);
    Ok(change.finish(LetGo::Now))
}

/// active → delayed: the same attempt goes on not before `until`.
pub fn delay(execution: &Execution, command: &DelayUntil, context: &Context) -> Result<Step<LetGo>, Rejection> {
    let fence = fence::given(command.fence.as_ref())?;
    let mut change = Change::begin(execution, context)?;
    if let Fenced::Repeated(end) = fence::check(&change.after, fence, LeaseOperation::Delay)? {
        return Ok(change.finish(let_go_before(&end)));
    }
    fence::confirm(&mut change);
    let until = command.until;
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
) -> Result<Step<()>, Rejection> {
    if command.pct.is_some_and(|pct| pct > 100) {
        return Err(Code::InvalidInput.because("pct is above 100"));
    }
    if let Some(message) = &command.message {
        check_text("message", message)?;
    }
    let fence = fence::given(command.fence.as_ref())?;
    let mut change = Change::begin(execution, context)?;
    fence::hold(&mut change, fence)?;
    change.after.progress = Some(Progress {
        pct: command.pct,
        message: command.message.clone(),
        at: change.now,
    });
    Ok(change.finish(()))
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
pub fn complete(execution: &Execution, command: &Complete, context: &Context) -> Result<Step<Completed>, Rejection> {
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
    change.end_lease(LeaseEnd::Completed);
    change.terminate(Ending::success(command.result.as_ref()));
    if let Some(result) = &command.result {
        change.draft.blobs.push((BlobKey::Result(execution.id), result.clone()));
    }
    Ok(change.finish(Completed::Now))
}

/// active → active: usage stands on the attempt and, until the budget has it, in the outbox.
pub fn report_usage(
    execution: &Execution,
    command: &ReportUsage,
    context: &Context,
) -> Result<Step<UsageRecorded>, Rejection> {
    check_deltas(&command.deltas)?;
    let fence = fence::given(command.fence.as_ref())?;
    let mut change = Change::begin(execution, context)?;
    let request_id = identity(command);
    if change
        .after
        .requests
        .remembers(request_id.as_ref(), &RequestOutcome::UsageRecorded)
    {
        return Ok(change.finish(UsageRecorded::Already));
    }
    fence::hold(&mut change, fence)?;
    if change.after.outbox.len() >= limits::OUTBOX_MAX {
        let id = execution.id;
        return Err(Code::Unavailable.because(format!("execution {id}: too many effects wait for their budget")));
    }
    if let Some(attempt) = &mut change.after.attempt {
        let usage = attempt.usage.entry(command.budget_id).or_default();
        for (dimension, delta) in &command.deltas {
            let total = usage.entry(dimension.clone()).or_default();
            *total = total.saturating_add(*delta);
        }
    }
    change.after.outbox.push(Effect {
        id: command.effect_id,
        kind: EffectKind::ReportUsage {
            budget_id: command.budget_id,
            deltas: command.deltas.clone(),
            dedup_key: command.dedup_key.clone(),
        },
    });
    change
        .after
        .requests
        .remember(request_id.as_ref(), RequestOutcome::UsageRecorded);
    change.note(Happening::UsageReported, Some(format!("budget {}", command.budget_id)));
    Ok(change.finish(UsageRecorded::Now))
}

/// What a repeated report is recognised by, so that the attempt does not count it twice either: its dedup key, which is
/// the budget's and may come with another request, or else its request id.
fn identity(command: &ReportUsage) -> Option<RequestId> {
    let Some(key) = &command.dedup_key else {
        return command.request_id.clone();
    };
    let budget = command.budget_id.uuid();
    let digest = Digest::of("usage", [budget.as_bytes(), key.as_str().as_bytes()]);
    RequestId::parse(digest.to_string()).ok()
}

/// active → active, with a request to stop that becomes a cancellation if it is not followed in time.
pub fn request_stop(execution: &Execution, reason: &str, context: &Context) -> Result<Step<bool>, Rejection> {
    let mut change = Change::begin(execution, context)?;
    let cancel_at = change.now + limits::STOP_GRACE;
    let Some(lease) = change.lease_mut().filter(|lease| lease.stop.is_none()) else {
        return Ok(change.finish(false));
    };
    lease.stop = Some(StopRequest {
        reason: reason.to_owned(),
        cancel_at,
    });
    change.note(Happening::StopRequested, Some(reason.to_owned()));
    Ok(change.finish(true))
}

/// The effects with these ids have arrived: they leave the outbox.
pub fn clear_outbox(execution: &Execution, arrived: &[crate::id::EffectId], context: &Context) -> Step<()> {
    let mut change = Change::settled(execution, context);
    change.after.outbox.retain(|effect| !arrived.contains(&effect.id));
    change.finish(())
}
