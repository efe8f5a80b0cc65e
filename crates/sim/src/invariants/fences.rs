//! Only the holder of the live lease acts as the holder.

use ff_backend::frames::Append;
use ff_core::id::ExecutionId;
use ff_core::name::WorkerInstanceId;
use ff_core::record::{Execution, Fence, LeaseOperation};
use ff_core::time::{Timestamp, earliest};

use super::leases::LeaseLog;
use super::mirror::{Changes, Mirror};
use super::{Holds, hold};

/// What a lease holder was told it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// It got the lease.
    Took,
    /// It keeps the lease until then.
    Renewed(Timestamp),
    /// It keeps the lease and did something under it.
    Used,
    /// It ended the lease in this way.
    Ended(LeaseOperation),
}

/// Whoever wrote as the holder was the holder, in time.
pub(crate) fn writes_are_in_time(changes: &Changes) -> Holds {
    for (before, after) in changes.executions.iter().filter_map(|transition| transition.both()) {
        let Some(act) = holders_act(before, after) else {
            continue;
        };
        let until = acts_until(before);
        hold(
            until.is_some_and(|until| !until.has_come(changes.at)),
            "a fenced write by an old lease never lands",
            || {
                let (id, epoch, at) = (before.id, before.lease_epoch, changes.at);
                format!("{id}: {act} under epoch {epoch} landed at {at}, but the lease ended at {until:?}")
            },
        )?;
    }
    Ok(())
}

/// What only the holder of the lease does, if this is what happened.
fn holders_act(before: &Execution, after: &Execution) -> Option<&'static str> {
    let held = before.lease()?;
    if let Some(lease) = after.lease().filter(|lease| lease.id == held.id) {
        return match () {
            () if lease.expires_at > held.expires_at => Some("a renewal"),
            () if after.progress != before.progress => Some("progress"),
            () if after.steps.next_seq > before.steps.next_seq => Some("a step"),
            () if usage(after) > usage(before) => Some("a usage report"),
            () if after.pending_waitpoints.len() > before.pending_waitpoints.len() => Some("a pending waitpoint"),
            () if lease.confirmed && !held.confirmed => Some("a first use"),
            () => None,
        };
    }
    let ended = after
        .ended_lease
        .as_ref()
        .filter(|ended| ended.digest.matches(held.id))?;
    Some(operation_name(ended.end.operation()?))
}

/// What an attempt has used in all. Only its holder adds to it; what turns out to have been reported before is taken off again,
/// by whoever hears of it.
fn usage(execution: &Execution) -> u64 {
    let attempt = execution.attempt.iter();
    let amounts = attempt.flat_map(|attempt| attempt.usage.values().flat_map(|usage| usage.values()));
    amounts.sum()
}

/// The moment from which the holder of the lease can no longer act.
fn acts_until(execution: &Execution) -> Option<Timestamp> {
    let lease = execution.lease().filter(|lease| !lease.is_expired())?;
    earliest([
        Some(lease.expires_at),
        // Until its first use, which may be its last, nobody's time runs.
        lease.timeout_at.filter(|_| lease.confirmed),
        lease.stop().map(|stop| stop.cancel_at),
        execution.deadline_at,
    ])
}

/// A frame was accepted from the live holder.
pub(crate) fn frame_is_the_holders(mirror: &Mirror, append: &Append, at: Timestamp) -> Holds {
    let execution = mirror.executions.get(&append.execution_id);
    let live = execution.and_then(|execution| {
        let (lease, attempt) = (execution.lease()?, execution.attempt.as_ref()?);
        let in_time = !lease.is_expired() && !lease.expires_at.has_come(at);
        in_time.then(|| lease.fence(attempt.id))
    });
    hold(
        live == Some(append.fence),
        "a fenced write by an old lease never lands",
        || {
            format!(
                "{}: a frame under {:?} was kept at {at}",
                append.execution_id, append.fence
            )
        },
    )
}

/// What a holder was told is what happened to its lease, and to no other.
pub(crate) fn told_the_truth(log: &LeaseLog, told: &Told<'_>) -> Holds {
    let Told { id, fence, act, .. } = *told;
    let seen = log.get(id, fence.lease_id);
    let truth = seen.is_some_and(|seen| {
        let happened = match act {
            Act::Took => told.instance == Some(&seen.instance),
            Act::Renewed(until) => seen.expiries.contains(&until),
            Act::Used => true,
            Act::Ended(operation) => seen.ends.iter().any(|end| end.operation() == Some(operation)),
        };
        happened && seen.epoch == fence.lease_epoch
    });
    hold(truth, "a fenced write by an old lease never lands", || {
        let end = seen.map(|seen| &seen.ends);
        format!("{id}: the holder of {fence:?} was told {act:?}, but its lease was ended by {end:?}")
    })
}

/// An answer to a lease holder.
pub(crate) struct Told<'a> {
    pub(crate) id: ExecutionId,
    pub(crate) fence: Fence,
    pub(crate) act: Act,
    /// Who was told.
    pub(crate) instance: Option<&'a WorkerInstanceId>,
}

const fn operation_name(operation: LeaseOperation) -> &'static str {
    match operation {
        LeaseOperation::Complete => "a completion",
        LeaseOperation::Fail => "a failure",
        LeaseOperation::Release => "a release",
        LeaseOperation::Delay => "a delay",
        LeaseOperation::WaitChildren => "waiting for children",
        LeaseOperation::Suspend => "a suspension",
        LeaseOperation::Cancel => "a cancellation by the holder",
    }
}
