//! The fence: who may act as the lease holder.

use super::change::Change;
use crate::error::{Code, Rejection};
use crate::record::{EndedLease, Execution, Fence, LeaseEnd, LeaseOperation};
use crate::state;

/// What a caller's fence turned out to be.
pub(crate) enum Fenced {
    /// The live lease.
    Live,
    /// The last lease, ended by this very operation: it is repeated and gets its first answer.
    Repeated(LeaseEnd),
}

/// Refuses a call without a fence, before anything else is looked at.
pub(crate) fn given(fence: Option<&Fence>) -> Result<&Fence, Rejection> {
    fence.ok_or_else(|| Code::FenceRequired.because("lease_id, lease_epoch and attempt_id must all be given"))
}

/// Checks the fence of an operation that ends the lease.
pub(crate) fn check(execution: &Execution, fence: &Fence, operation: LeaseOperation) -> Result<Fenced, Rejection> {
    if is_live(execution, fence) {
        return Ok(Fenced::Live);
    }
    match ended_by(execution, fence) {
        Some(ended) if ended.end.operation() == Some(operation) => Ok(Fenced::Repeated(ended.end)),
        Some(ended) => Err(lease_is_over(execution, &ended)),
        None => Err(not_the_holder(execution)),
    }
}

/// Checks the fence of an operation that keeps the lease, and marks the lease as used: its holder knows it has it.
pub(crate) fn hold(change: &mut Change<'_>, fence: &Fence) -> Result<(), Rejection> {
    let execution = &change.after;
    if !is_live(execution, fence) {
        return Err(match ended_by(execution, fence) {
            Some(ended) => lease_is_over(execution, &ended),
            None => not_the_holder(execution),
        });
    }
    confirm(change);
    Ok(())
}

/// Marks the live lease as used and bounds the commit by it.
pub(crate) fn confirm(change: &mut Change<'_>) {
    change.bound_by_lease();
    change.after.counts.unconfirmed_returns = 0;
    if let Some(lease) = change.lease_mut() {
        lease.confirmed = true;
    }
}

/// Whether `fence` is that of the live lease. A lease in its reclaim grace is no longer live for its holder.
fn is_live(execution: &Execution, fence: &Fence) -> bool {
    let (Some(lease), Some(attempt)) = (execution.lease(), &execution.attempt) else {
        return false;
    };
    lease.fence(attempt.id) == *fence && !lease.is_expired()
}

/// The last lease, if `fence` is its fence. An expired lease in its grace counts as ended by time.
fn ended_by(execution: &Execution, fence: &Fence) -> Option<EndedLease> {
    if let (Some(lease), Some(attempt)) = (execution.lease(), &execution.attempt)
        && lease.is_expired()
    {
        let own = lease.fence(attempt.id) == *fence;
        return own.then(|| EndedLease::of(lease, attempt.id, LeaseEnd::Expired));
    }
    let ended = execution.ended_lease.as_ref()?;
    ended.is_of(fence).then(|| ended.clone())
}

/// What who held a lease is told: why it is over.
pub fn lease_is_over(execution: &Execution, ended: &EndedLease) -> Rejection {
    let (code, how) = match ended.end {
        LeaseEnd::Expired => (Code::LeaseExpired, "expired"),
        LeaseEnd::Revoked => (Code::LeaseRevoked, "was revoked"),
        LeaseEnd::TimedOut => (Code::ExecutionNotActive, "ended when the attempt used up its time"),
        _ => (Code::ExecutionNotActive, "ended"),
    };
    let detail = format!("execution {}: the lease of epoch {} {how}", execution.id, ended.epoch);
    describe(code.because(detail), execution)
}

pub(crate) fn not_the_holder(execution: &Execution) -> Rejection {
    let id = execution.id;
    if execution.lease().is_some() || execution.ended_lease.is_some() {
        return Code::StaleLease.because(format!("execution {id}: this is not its current lease"));
    }
    describe(
        Code::ExecutionNotActive.because(format!("execution {id} has no lease")),
        execution,
    )
}

/// Adds where the execution stands, so that a worker need not read it.
fn describe(rejection: Rejection, execution: &Execution) -> Rejection {
    let vector = state::state_vector(execution);
    rejection
        .with("terminal_outcome", vector.terminal_outcome.as_str())
        .with("lifecycle_phase", vector.lifecycle_phase.as_str())
        .with("lease_epoch", execution.lease_epoch)
        .with("attempt_index", execution.attempt.as_ref().map(|attempt| attempt.index))
}
