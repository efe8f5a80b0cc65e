//! Taking and giving back: a slot belongs to a grant and then to its lease, a place in the window to an attempt.

use super::Quota;
use super::define::move_generation;
use super::due::{mark_blocked, places_beside};
use super::slot::{Admit, QuotaAdmission, SlotReleased};
use crate::id::GrantId;
use crate::limits::GRANT_TTL_MAX;
use crate::record::{Execution, QuotaPolicy, Slot};
use crate::time::{Duration, Timestamp};

/// When a caller that found no slot may try again. Nobody knows when one is freed; this only keeps callers from spinning.
pub const CAP_RETRY_AFTER: Duration = Duration::from_secs(1);

/// What of a quota one admission depends on: all a store has to look up to let [`judge`] decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The grant was released before.
    pub released: bool,
    /// The grant holds a slot.
    pub holds_slot: bool,
    /// Slots taken.
    pub in_use: u64,
    /// The attempt holds a place in the window.
    pub holds_place: bool,
    /// Places taken.
    pub taken: u64,
    /// When a place becomes free while none is; absent with a limit of 0.
    pub place_free_at: Option<Timestamp>,
}

/// What an admission comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// For the caller. Only [`QuotaAdmission::Admitted`] takes a slot.
    pub answer: QuotaAdmission,
    /// A place in the window is taken beside the slot.
    pub takes_place: bool,
}

/// Takes a slot and a place, or neither. Repeated under one grant it takes nothing more; refused, it marks where the
/// execution is going to be blocked.
pub fn admit(quota: &mut Quota, ask: &Admit, now: Timestamp) -> QuotaAdmission {
    forget_the_past(quota, now);
    let standing = standing(quota, ask, now);
    let decision = decide(&mut quota.policy, &standing, ask, now);
    if decision.answer == QuotaAdmission::Admitted {
        let slot = Slot {
            execution_id: ask.execution_id,
            taken_at: now,
        };
        quota.usage.slots.insert(ask.grant_id, slot);
    }
    if decision.takes_place {
        quota.usage.window.insert(ask.window_request(), now);
    }
    decision.answer
}

/// [`admit`] for a store that keeps slots and places by itself: decides from what was looked up and changes the policy;
/// the store takes what the decision says, in the same step.
pub fn decide(policy: &mut QuotaPolicy, standing: &Standing, ask: &Admit, now: Timestamp) -> Decision {
    let answer = judge(policy, standing, ask, now);
    match answer {
        QuotaAdmission::Admitted => use_promise(policy),
        QuotaAdmission::CapFull { .. } | QuotaAdmission::WindowFull { .. } => {
            mark_blocked(policy, ask.execution_id.partition(), ask.continues);
        }
        QuotaAdmission::AlreadyAdmitted | QuotaAdmission::Unlimited | QuotaAdmission::Late => {}
    }
    let takes_place = answer == QuotaAdmission::Admitted && needs_place(policy, standing, ask);
    Decision { answer, takes_place }
}

/// Decides an admission from what was looked up.
pub fn judge(policy: &QuotaPolicy, standing: &Standing, ask: &Admit, now: Timestamp) -> QuotaAdmission {
    let generation = policy.generation;
    let jitter = Duration::from_millis(ask.dice % (policy.jitter.as_millis() + 1));
    if policy.deleted_at.is_some() {
        return QuotaAdmission::Unlimited;
    }
    if standing.released {
        return QuotaAdmission::Late;
    }
    if standing.holds_slot {
        return QuotaAdmission::AlreadyAdmitted;
    }
    if let Some(max_concurrent) = policy.max_concurrent.filter(|max| standing.in_use >= *max) {
        let in_use = standing.in_use;
        let retry_after = (max_concurrent > 0).then_some(CAP_RETRY_AFTER + jitter);
        return QuotaAdmission::CapFull {
            in_use,
            max_concurrent,
            retry_after,
            generation,
        };
    }
    let rate = policy
        .max_requests_per_window
        .filter(|_| needs_place(policy, standing, ask));
    if let Some(max_requests_per_window) = rate.filter(|max| standing.taken >= *max) {
        let (taken, window) = (standing.taken, policy.window);
        let retry_after = standing.place_free_at.map(|at| at.since(now) + jitter);
        return QuotaAdmission::WindowFull {
            taken,
            max_requests_per_window,
            window,
            retry_after,
            generation,
        };
    }
    QuotaAdmission::Admitted
}

/// One place per attempt. Without a rate none is kept: a window starts to count when it gets a limit.
fn needs_place(policy: &QuotaPolicy, standing: &Standing, ask: &Admit) -> bool {
    policy.max_requests_per_window.is_some() && !ask.continues && !standing.holds_place
}

fn standing(quota: &Quota, ask: &Admit, now: Timestamp) -> Standing {
    let (policy, usage) = (&quota.policy, &quota.usage);
    Standing {
        released: usage.tombstones.holds(ask.grant_id, GRANT_TTL_MAX, now),
        holds_slot: usage.slots.contains_key(&ask.grant_id),
        in_use: usage.slots.len() as u64,
        holds_place: usage.window.holds(ask.window_request(), policy.window, now),
        taken: usage.window.count(policy.window, now),
        place_free_at: places_beside(policy, 0).and_then(|places| usage.window.falls_to(places, policy.window)),
    }
}

/// Whoever comes first uses the room that was kept; a released execution that finds none is blocked again.
fn use_promise(policy: &mut QuotaPolicy) {
    if let Some(promise) = &mut policy.promise {
        promise.count = promise.count.saturating_sub(1);
    }
    policy.promise = policy.promise.filter(|promise| promise.count > 0);
}

fn forget_the_past(quota: &mut Quota, now: Timestamp) {
    quota.usage.window.slide(quota.policy.window, now);
    quota.usage.tombstones.slide(GRANT_TTL_MAX, now);
}

/// Gives a slot back. A grant that holds none may have asked for one on a way that is slower than this one: it is refused
/// for as long as a grant can live.
pub fn release(quota: &mut Quota, grant_id: GrantId, now: Timestamp) -> SlotReleased {
    if quota.policy.deleted_at.is_some() {
        return SlotReleased::Gone;
    }
    forget_the_past(quota, now);
    if quota.usage.slots.remove(&grant_id).is_none() {
        quota.usage.tombstones.insert(grant_id, now);
        return SlotReleased::Unknown;
    }
    move_generation(&mut quota.policy, now);
    SlotReleased::Freed
}

/// Slots so old that their grant must have become a lease, at most `limit` of them, from the grant after `after` on.
/// Those whose execution does not hold them ([`holds_slot`]) are released: somebody died before giving them back.
pub fn slots_to_check(quota: &Quota, after: Option<GrantId>, limit: usize, now: Timestamp) -> Vec<(GrantId, Slot)> {
    use std::ops::Bound::{Excluded, Unbounded};
    let from = after.map_or(Unbounded, Excluded);
    let slots = quota.usage.slots.range((from, Unbounded));
    let old = slots.filter(|(_, slot)| (slot.taken_at + GRANT_TTL_MAX).has_come(now));
    old.take(limit).map(|(grant_id, slot)| (*grant_id, *slot)).collect()
}

/// Whether an execution still holds the slot of a grant, as a grant or as the lease that came of it.
pub fn holds_slot(execution: &Execution, grant_id: GrantId) -> bool {
    let leased = execution.lease().is_some_and(|lease| lease.grant == Some(grant_id));
    leased || execution.grant().is_some_and(|grant| grant.id == grant_id)
}
