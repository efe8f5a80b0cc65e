//! What an operator or a client does to one execution: cancel, delete, revoke_lease, issue_reclaim_grant, change_priority, hold,
//! unhold, set_tags.

use std::sync::Arc;

use super::change::{Change, Ending};
use super::claim::needs_admission;
use super::context::Context;
use super::decided::Decided;
use super::fence;
use super::lease::{check_grant_ttl, check_text};
use super::submit::{check_priority, check_tags};
use super::time;
use crate::command::operator::{
    CancelExecution, Cancelled, ChangePriority, Changed, HoldExecution, IssueReclaimGrant, RevokeLease, Revoked,
    SetTags,
};
use crate::error::{Code, Rejection};
use crate::id::GrantId;
use crate::limits;
use crate::record::{
    AttemptKind, CancelSource, Execution, Fence, GateState, Grant, Happening, Hold, Lease, LeaseEnd, OutcomeKind,
    Phase, RequestOutcome,
};
use crate::state::{EligibilityState, state_vector};
use crate::time::Timestamp;

/// any open state → cancelled, by a client or by the worker that runs it.
pub fn cancel(
    execution: &Execution,
    command: &CancelExecution,
    context: &Context,
) -> Result<Decided<Cancelled>, Rejection> {
    check_text("reason", &command.reason)?;
    let mut change = Change::begin(execution, context)?;
    let fence = command.fence.as_ref();
    if is_cancelled_for(&change.after, fence) {
        return Ok(change.finish(Cancelled::Already));
    }
    let source = match fence {
        None if change.after.is_terminal() => return Err(ended(&change.after)),
        None => CancelSource::OperatorOverride,
        Some(fence) => {
            fence::hold(&mut change, fence)?;
            CancelSource::LeaseHolder
        }
    };
    end_cancelled(&mut change, &command.reason, source);
    Ok(change.finish(Cancelled::Now))
}

/// Whether it was cancelled already, by whomever, as far as the caller may know: without a fence, or with the last one.
fn is_cancelled_for(execution: &Execution, fence: Option<&Fence>) -> bool {
    let cancelled = execution
        .outcome()
        .is_some_and(|outcome| outcome.kind == OutcomeKind::Cancelled);
    let last = |fence: &Fence| execution.ended_lease.as_ref().is_some_and(|ended| ended.is_of(fence));
    cancelled && fence.is_none_or(last)
}

/// any open state → cancelled, because its flow or its group no longer wants it. An ended execution stays as it is.
pub fn cancel_by_cascade(execution: &Execution, reason: &str, context: &Context) -> Decided<Cancelled> {
    let mut change = Change::settled(execution, context);
    if change.after.is_terminal() {
        return change.finish(Cancelled::Already);
    }
    end_cancelled(&mut change, reason, CancelSource::FlowCascade);
    change.finish(Cancelled::Now)
}

fn end_cancelled(change: &mut Change<'_>, reason: &str, source: CancelSource) {
    if source == CancelSource::LeaseHolder {
        change.end_lease(LeaseEnd::Cancelled);
    }
    change.terminate(Ending::cancelled(reason.to_owned(), source));
}

/// terminal → deleting: it is gone for every read, and what belongs to it goes in pages. `open_members` are those of its flow
/// that have not ended: what one of them may still ask for stays.
pub fn delete(execution: &Execution, open_members: u64, context: &Context) -> Result<Decided<()>, Rejection> {
    let mut change = Change::begin(execution, context)?;
    let id = change.after.id;
    let Phase::Terminal(outcome) = &mut change.after.phase else {
        return Err(Code::ExecutionNotTerminal.because(format!("execution {id} has not ended: cancel it first")));
    };
    if open_members > 0 {
        let detail = format!("execution {id} is a member of a flow with {open_members} open members: cancel it first");
        return Err(Code::ExecutionNotTerminal.because(detail));
    }
    outcome.deleting = true;
    change.note(Happening::Deleting, None);
    Ok(change.finish(()))
}

/// The answer to whoever wants to change an execution that has ended.
pub(crate) fn ended(execution: &Execution) -> Rejection {
    let state = crate::state::public_state(execution);
    Code::ExecutionNotActive
        .because(format!("execution {} has ended: {state}", execution.id))
        .with("terminal_outcome", state_vector(execution).terminal_outcome.as_str())
}

/// active → waiting for another worker, at once and without grace; counts as a reclaim.
pub fn revoke_lease(
    execution: &Execution,
    command: &RevokeLease,
    context: &Context,
) -> Result<Decided<Revoked>, Rejection> {
    if let Some(reason) = &command.reason {
        check_text("reason", reason)?;
    }
    let mut change = Change::begin(execution, context)?;
    let expected = command.expected_lease_epoch;
    let is_meant = |outcome: &RequestOutcome| {
        matches!(outcome, RequestOutcome::Revoked { lease_epoch }
            if expected.is_none_or(|expected| expected == *lease_epoch))
    };
    if change.after.requests.find(command.request_id.as_ref()).any(is_meant) {
        return Ok(change.finish(Revoked::Now));
    }
    let Some(lease) = change.after.lease() else {
        return without_lease(change, expected);
    };
    if let Some(expected) = expected.filter(|expected| *expected != lease.epoch) {
        if expected < lease.epoch {
            return Ok(change.finish(Revoked::AlreadySatisfied));
        }
        let epoch = lease.epoch;
        return Err(Code::StaleLease.because(format!(
            "execution {}: the lease has epoch {epoch}, not {expected}",
            execution.id
        )));
    }
    let lease_epoch = lease.epoch;
    change.note(Happening::LeaseRevoked, command.reason.clone());
    time::reclaim(&mut change, LeaseEnd::Revoked);
    if change.context.gate == Some(GateState::Cancelled) {
        return Ok(change.finish(Revoked::Cancelled));
    }
    change
        .after
        .requests
        .remember(command.request_id.as_ref(), RequestOutcome::Revoked { lease_epoch });
    Ok(change.finish(Revoked::Now))
}

/// Nobody has a lease: fine if the one that was meant is gone or was revoked before, otherwise there is none to revoke.
fn without_lease(change: Change<'_>, expected: Option<u64>) -> Result<Decided<Revoked>, Rejection> {
    let revoked = change
        .after
        .ended_lease
        .as_ref()
        .is_some_and(|ended| ended.end == LeaseEnd::Revoked);
    let gone = expected.is_some_and(|expected| expected <= change.after.lease_epoch);
    if revoked || gone {
        return Ok(change.finish(Revoked::AlreadySatisfied));
    }
    Err(Code::NoActiveLease.because(format!("execution {} has no lease", change.after.id)))
}

/// A reclaim grant, before it is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReclaimGrant {
    /// Open; budgets and quota may still have to admit it.
    Issued {
        /// Its id.
        grant_id: GrantId,
        /// When it lapses.
        expires_at: Timestamp,
        /// Whether it can be redeemed as it is.
        admitted: bool,
    },
    /// The flow is cancelled; so is its member now.
    FlowCancelled,
}

/// waiting for another worker → granted to a given one. Repeated for that worker while its grant is open, it answers the
/// same grant.
pub fn issue_reclaim_grant(
    execution: &Execution,
    command: &IssueReclaimGrant,
    grant_id: GrantId,
    context: &Context,
) -> Result<Decided<ReclaimGrant>, Rejection> {
    let grant_ttl = check_grant_ttl(command.grant_ttl.unwrap_or(limits::GRANT_TTL_DEFAULT))?;
    let mut change = Change::begin(execution, context)?;
    let is_same =
        |grant: &&Grant| grant.reclaim && grant.worker == command.worker && grant.instance == command.instance;
    if let Some(issued) = change.after.grant().filter(is_same).map(issued) {
        return Ok(change.finish(issued));
    }
    if change.after.lease().is_some_and(Lease::is_expired) {
        time::reclaim(&mut change, LeaseEnd::Expired);
        match change.after.outcome().map(|outcome| outcome.kind) {
            Some(OutcomeKind::Cancelled) => return Ok(change.finish(ReclaimGrant::FlowCancelled)),
            Some(_) => {
                return Err(Code::MaxReclaimsExceeded.because(format!("execution {} was lost too often", execution.id)));
            }
            None => {}
        }
    }
    check_reclaimable(&change.after)?;
    if !change.pass_gate() {
        change.cancel_with_flow();
        return Ok(change.finish(ReclaimGrant::FlowCancelled));
    }
    let required = &change
        .after
        .definition
        .policy
        .routing_requirements
        .required_capabilities;
    if !command.capabilities.covers(required) {
        return Err(
            Code::CapabilityMismatch.because(format!("the worker does not offer all that {} needs", execution.id))
        );
    }
    let grant = Grant {
        id: grant_id,
        worker: command.worker.clone(),
        instance: command.instance.clone(),
        expires_at: change.now + grant_ttl,
        admitted: !needs_admission(&change.after),
        reclaim: true,
    };
    let issued = issued(&grant);
    if let Some(runnable) = change.runnable_mut() {
        runnable.grant = Some(grant);
    }
    change.note(Happening::Granted, Some(format!("to {} as a reclaim", command.worker)));
    Ok(change.finish(issued))
}

fn issued(grant: &Grant) -> ReclaimGrant {
    ReclaimGrant::Issued {
        grant_id: grant.id,
        expires_at: grant.expires_at,
        admitted: grant.admitted,
    }
}

fn check_reclaimable(execution: &Execution) -> Result<(), Rejection> {
    let pending = execution
        .runnable()
        .is_some_and(|runnable| runnable.next_claim.kind == AttemptKind::Reclaim && !runnable.next_claim.continues);
    if !pending || execution.grant().is_some() {
        return Err(
            Code::ExecutionNotReclaimable.because(format!("execution {} waits for no other worker", execution.id))
        );
    }
    if state_vector(execution).eligibility_state != EligibilityState::EligibleNow {
        return Err(Code::ExecutionNotEligible.because(format!("execution {} may not be handed out now", execution.id)));
    }
    Ok(())
}

/// Moves an open execution in its queue.
pub fn change_priority(
    execution: &Execution,
    command: &ChangePriority,
    context: &Context,
) -> Result<Decided<Changed>, Rejection> {
    check_priority(command.priority)?;
    let mut change = open(execution, context)?;
    if change.after.priority == command.priority {
        return Ok(change.finish(Changed::Already));
    }
    let before = change.after.priority;
    change.after.priority = command.priority;
    change.note(
        Happening::PriorityChanged,
        Some(format!("{before} to {}", command.priority)),
    );
    Ok(change.finish(Changed::Now))
}

/// Keeps an open execution from being handed out; a running attempt goes on.
pub fn hold(execution: &Execution, command: &HoldExecution, context: &Context) -> Result<Decided<Changed>, Rejection> {
    if let Some(reason) = &command.reason {
        check_text("reason", reason)?;
    }
    let mut change = open(execution, context)?;
    if change.after.hold.is_some() {
        return Ok(change.finish(Changed::Already));
    }
    change.drop_grant(Happening::GrantDropped);
    change.after.hold = Some(Hold {
        since: change.now,
        reason: command.reason.clone(),
    });
    change.note(Happening::Held, command.reason.clone());
    Ok(change.finish(Changed::Now))
}

/// Lets a held execution go. Whatever blocked it before is looked at anew when it is next handed out.
pub fn unhold(execution: &Execution, context: &Context) -> Result<Decided<Changed>, Rejection> {
    let mut change = open(execution, context)?;
    if change.after.hold.take().is_none() {
        return Ok(change.finish(Changed::Already));
    }
    if let Some(runnable) = change.runnable_mut() {
        runnable.block = None;
    }
    change.note(Happening::Unheld, None);
    Ok(change.finish(Changed::Now))
}

/// Replaces the tags, in any state.
pub fn set_tags(execution: &Execution, command: &SetTags, context: &Context) -> Result<Decided<Changed>, Rejection> {
    check_tags(&command.tags)?;
    let mut change = Change::begin(execution, context)?;
    if *change.after.tags == command.tags {
        return Ok(change.finish(Changed::Already));
    }
    change.after.tags = Arc::new(command.tags.clone());
    change.note(Happening::TagsChanged, None);
    Ok(change.finish(Changed::Now))
}

fn open<'a>(execution: &'a Execution, context: &'a Context) -> Result<Change<'a>, Rejection> {
    let change = Change::begin(execution, context)?;
    if change.after.is_terminal() {
        return Err(ended(&change.after));
    }
    Ok(change)
}
