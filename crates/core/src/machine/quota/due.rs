//! When there is room for work that waits, and how much.

use super::define::move_generation;
use crate::machine::admission::{Headroom, Release};
use crate::record::{Promise, QuotaPolicy};
use crate::time::{Duration, Timestamp, earliest};

/// How long room is kept for released work. Longer would idle room whose taker was cancelled or held, shorter would
/// release more than fits when workers are slow; neither does harm.
pub(super) const PROMISE_TTL: Duration = Duration::from_secs(1);

/// What of a quota its timer depends on: all a store has to look up to let [`due_when`] decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outlook {
    /// Slots taken.
    pub(super) slots: u64,
    /// From when on at most [`places_beside`] nobody else are taken; absent when there never were more.
    pub(super) place_free_at: Option<Timestamp>,
    /// From when on at most [`places_beside`] those that are promised are taken; absent when there never were more.
    pub(super) unpromised_place_free_at: Option<Timestamp>,
}

/// How many places may be taken for one more to fit beside `promised` others. `None`: no number helps, or none matters.
pub(super) fn places_beside(policy: &QuotaPolicy, promised: u64) -> Option<u64> {
    policy.max_requests_per_window?.checked_sub(promised.checked_add(1)?)
}

/// How many could be admitted beside the slots and places that are taken.
pub(super) fn headroom_beside(policy: &QuotaPolicy, slots: u64, places: u64) -> Headroom {
    if policy.deleted_at.is_some() {
        return Headroom::UNLIMITED;
    }
    Headroom {
        slots: policy.max_concurrent.map(|max| max.saturating_sub(slots)),
        places: policy.max_requests_per_window.map(|max| max.saturating_sub(places)),
    }
}

/// The moment at which waiting work may be released, from what was looked up. `None`: nothing waits, or only a freed slot or a
/// changed limit helps.
pub(super) fn due_when(policy: &QuotaPolicy, outlook: &Outlook) -> Option<Timestamp> {
    if policy.blocked_in.is_empty() {
        return None;
    }
    let alone = room_at(policy, outlook.slots, 0, outlook.place_free_at);
    let Some(promise) = policy.promise else {
        return alone;
    };
    let promised = room_at(policy, outlook.slots, promise.count, outlook.unpromised_place_free_at);
    earliest([promised, alone.map(|at| at.max(promise.until))])
}

/// The moment from which there is room for one more beside `promised` others.
fn room_at(policy: &QuotaPolicy, slots: u64, promised: u64, place_free_at: Option<Timestamp>) -> Option<Timestamp> {
    let at_once = policy.generation_at;
    if policy.deleted_at.is_some() {
        return Some(at_once);
    }
    if policy.max_concurrent.is_some_and(|max| slots + promised >= max) {
        return None;
    }
    if policy.max_requests_per_window.is_none() || !policy.continuing_in.is_empty() {
        return Some(at_once);
    }
    places_beside(policy, promised)?;
    Some(place_free_at.map_or(at_once, |at| at.max(at_once)))
}

/// Begins a release if one is due. The room it hands out is kept for what it releases, for a moment; `places` are taken at `now`.
pub(super) fn release_when_due(
    policy: &mut QuotaPolicy,
    outlook: &Outlook,
    places: u64,
    now: Timestamp,
) -> Option<Release> {
    if !due_when(policy, outlook)?.has_come(now) {
        return None;
    }
    policy.promise = policy.promise.filter(|promise| !promise.until.has_come(now));
    // Whoever marks a partition from here on knows that this release may not have seen its work.
    move_generation(policy, now);
    let kept = policy.promise.unwrap_or(Promise {
        count: 0,
        until: now + PROMISE_TTL,
    });
    let room = headroom_beside(policy, kept.count + outlook.slots, kept.count + places);
    let count = kept.count.saturating_add(released_at_most(policy, room));
    policy.promise = (count > 0).then_some(Promise { count, ..kept });
    Some(Release {
        round: policy.generation,
        partitions: policy.blocked_in.partitions().collect(),
        room,
    })
}

fn released_at_most(policy: &QuotaPolicy, room: Headroom) -> u64 {
    let slots = room.slots.filter(|_| !policy.continuing_in.is_empty());
    slots.or(room.fits()).unwrap_or(0)
}
