//! What time does to an execution: when it next needs attention, and what happens then.

use super::change::{Change, Ending};
use super::context::Context;
use super::decided::{ClosedReason, Decided};
use super::fail::FailedBy;
use super::{fail, suspend};
use crate::error::Code;
use crate::limits::UNCONFIRMED_RETURNS_MAX;
use crate::name::Category;
use crate::record::{
    AttemptEndState, AttemptKind, CancelSource, Execution, Failure, Happening, Lease, LeaseEnd, NextClaim, Outcome,
    Phase,
};
use crate::time::Timestamp;

/// The moment an execution next needs attention. `None`: only a command can change it.
pub fn due_at(execution: &Execution) -> Option<Timestamp> {
    if !execution.outbox.is_empty() || execution.follow_ups.any() {
        return Some(execution.updated_at);
    }
    next_timer(execution).map(|(at, _)| at)
}

/// The moment from which a commit made under the live lease must be refused: whatever is due then comes first.
pub(crate) fn lease_bound(execution: &Execution) -> Option<Timestamp> {
    next_timer(execution).map(|(at, _)| at)
}

/// Applies everything that is due. An unchanged execution gives an empty draft.
pub fn advance(execution: &Execution, context: &Context) -> Decided<()> {
    Change::settled(execution, context).finish(())
}

/// What can be due of an execution, in the order in which they win when they fall on the same moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The whole execution has run out of time.
    Deadline,
    /// A request to stop was not followed in time.
    Stop,
    /// The attempt used up its time.
    AttemptTimeout,
    /// The lease was not renewed.
    LeaseExpiry,
    /// The holder of an expired lease had its grace; another worker takes over.
    ReclaimGrace,
    /// Nothing ended the suspension in time.
    SuspensionTimeout,
    /// A promised execution was not claimed.
    GrantExpiry,
    /// The pause before the next attempt or resumption is over.
    DelayOver,
    /// Nobody needs the ended execution any more.
    Retention,
}

impl Timer {
    /// Every timer, in their order.
    pub const ALL: [Timer; 9] = [
        Timer::Deadline,
        Timer::Stop,
        Timer::AttemptTimeout,
        Timer::LeaseExpiry,
        Timer::ReclaimGrace,
        Timer::SuspensionTimeout,
        Timer::GrantExpiry,
        Timer::DelayOver,
        Timer::Retention,
    ];
}

/// The timer of an execution that is due next, and when. What it owes to other records ([`due_at`]) is no timer.
pub fn next_timer(execution: &Execution) -> Option<(Timestamp, Timer)> {
    timers(execution).into_iter().flatten().min()
}

fn timers(execution: &Execution) -> [Option<(Timestamp, Timer)>; 4] {
    let at = |moment: Option<Timestamp>, timer| moment.map(|at| (at, timer));
    match &execution.phase {
        Phase::Terminal(Outcome {
            deleting: true,
            at: ended,
            ..
        }) => [Some((*ended, Timer::Retention)), None, None, None],
        Phase::Terminal(outcome) => [at(outcome.delete_at, Timer::Retention), None, None, None],
        Phase::Runnable(runnable) => [
            at(execution.deadline_at, Timer::Deadline),
            at(
                runnable.grant.as_ref().map(|grant| grant.expires_at),
                Timer::GrantExpiry,
            ),
            at(runnable.delay.as_ref().map(|delay| delay.until), Timer::DelayOver),
            None,
        ],
        Phase::Suspended(suspension) => [
            at(execution.deadline_at, Timer::Deadline),
            at(
                suspension.timeout_at.filter(|_| !suspension.escalated),
                Timer::SuspensionTimeout,
            ),
            None,
            None,
        ],
        Phase::Active(lease) => [
            at(execution.deadline_at, Timer::Deadline),
            at(lease.stop().map(|stop| stop.cancel_at), Timer::Stop),
            // Nobody may know of a lease that was never used: it costs the attempt nothing.
            at(
                lease.timeout_at.filter(|_| lease.confirmed && !lease.is_expired()),
                Timer::AttemptTimeout,
            ),
            Some(match lease.reclaim_at {
                Some(reclaim_at) => (reclaim_at, Timer::ReclaimGrace),
                None => (lease.expires_at, Timer::LeaseExpiry),
            }),
        ],
    }
}

/// Applies what is due, the earliest first. What needs other records (deleting, outbox, follow-ups) is left to the pump.
pub(crate) fn settle(change: &mut Change<'_>) {
    while let Some((at, timer)) = next_timer(&change.after) {
        if !at.has_come(change.now) || change.after.is_deleting() {
            return;
        }
        fire(change, timer);
    }
}

fn fire(change: &mut Change<'_>, timer: Timer) {
    match timer {
        Timer::Deadline => change.terminate(Ending::expired("its deadline passed", ClosedReason::Expired)),
        Timer::Stop => stop(change),
        Timer::AttemptTimeout => time_out_attempt(change),
        Timer::LeaseExpiry => expire_lease(change),
        Timer::ReclaimGrace => reclaim(change, LeaseEnd::Expired),
        Timer::SuspensionTimeout => suspend::time_out(change),
        Timer::GrantExpiry => change.drop_grant(Happening::GrantLapsed),
        Timer::DelayOver => {
            if let Some(runnable) = change.runnable_mut() {
                runnable.delay = None;
            }
            change.note(Happening::DelayOver, None);
        }
        Timer::Retention => {
            if let Phase::Terminal(outcome) = &mut change.after.phase {
                outcome.deleting = true;
            }
            change.note(Happening::Deleting, None);
        }
    }
}

fn stop(change: &mut Change<'_>) {
    let stop = change.after.lease().and_then(Lease::stop);
    let reason = stop.map_or_else(String::new, |stop| stop.reason.clone());
    change.terminate(Ending::cancelled(reason, CancelSource::SystemTimeout));
}

fn time_out_attempt(change: &mut Change<'_>) {
    let failure = Failure {
        reason: "the attempt used up its time".to_owned(),
        category: Category::timeout(),
    };
    fail::end_failed_attempt(change, failure, FailedBy::Timeout);
}

/// A lease ran out. If nobody ever used it, it goes back as if released, a few times in a row. Otherwise another worker
/// takes over, after the grace.
fn expire_lease(change: &mut Change<'_>) {
    let Some(lease) = change.after.lease() else { return };
    let reclaim_at = lease.expires_at + change.context.settings.reclaim_grace;
    if !lease.confirmed && change.after.counts.unconfirmed_returns < UNCONFIRMED_RETURNS_MAX {
        return take_back(change);
    }
    change.note(Happening::LeaseExpired, None);
    if let Some(lease) = change.lease_mut() {
        lease.reclaim_at = Some(reclaim_at);
    }
}

fn take_back(change: &mut Change<'_>) {
    change.after.counts.unconfirmed_returns += 1;
    change.note(Happening::Returned, Some("nobody used the lease".to_owned()));
    if change.lose_lease(LeaseEnd::Expired) {
        let next_claim = change.same_attempt();
        change.requeue(next_claim, None);
    }
}

/// Takes the execution from its worker: the attempt is interrupted, the next claim starts another one.
pub(crate) fn reclaim(change: &mut Change<'_>, end: LeaseEnd) {
    let revoked = end == LeaseEnd::Revoked;
    if !change.lose_lease(end) {
        return;
    }
    if change.after.counts.reclaims >= change.after.definition.policy.reclaims_max() {
        let failure = Failure {
            reason: Code::MaxReclaimsExceeded.as_str().to_owned(),
            category: Category::infra_crash(),
        };
        return change.terminate(Ending::failed(failure, ClosedReason::Reclaimed));
    }
    change.after.counts.reclaims += 1;
    change.after.counts.unconfirmed_returns = 0;
    change.end_attempt(AttemptEndState::InterruptedReclaimed, None, ClosedReason::Reclaimed);
    change.archive_attempt();
    let tier = change.after.attempt.as_ref().map_or(0, |attempt| attempt.tier);
    let next_claim = NextClaim {
        revoked,
        ..change.new_attempt(AttemptKind::Reclaim, tier)
    };
    change.requeue(next_claim, None);
    change.note(Happening::Reclaimable, None);
}
