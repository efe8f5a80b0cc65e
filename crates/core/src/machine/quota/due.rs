//! When there is room for work that waits, and how much.

use super::Quota;
use super::define::move_generation;
use crate::machine::admission::{Release, Room};
use crate::partition::Partition;
use crate::record::{Promise, QuotaPolicy};
use crate::time::{Duration, Timestamp, earliest};

/// How long room is kept for released work. Longer would idle room whose taker was cancelled or held, shorter would
/// release more than fits when workers are slow; neither does harm.
pub const PROMISE_TTL: Duration = Duration::from_secs(1);

/// How many could be admitted at `now`.
pub fn room(quota: &Quota, now: Timestamp) -> Room {
    room_beside(quota, 0, now)
}

fn room_beside(quota: &Quota, promised: u64, now: Timestamp) -> Room {
    let (policy, usage) = (&quota.policy, &quota.usage);
    if policy.deleted_at.is_some() {
        return Room::UNLIMITED;
    }
    let in_use = promised + usage.slots.len() as u64;
    let taken = promised + usage.window.count(policy.window, now);
    Room {
        slots: policy.max_concurrent.map(|max| max.saturating_sub(in_use)),
        places: policy.max_requests_per_window.map(|max| max.saturating_sub(taken)),
    }
}

/// The moment at which waiting work may be released. `None`: nothing waits, or only a freed slot or a changed limit helps.
pub fn due_at(quota: &Quota) -> Option<Timestamp> {
    let policy = &quota.policy;
    if policy.blocked_in.is_empty() {
        return None;
    }
    let Some(promise) = policy.promise else {
        return room_at(quota, 0);
    };
    let after_promise = room_at(quota, 0).map(|at| at.max(promise.until));
    earliest([room_at(quota, promise.count), after_promise])
}

/// The moment from which there is room for one more beside `promised` others.
fn room_at(quota: &Quota, promised: u64) -> Option<Timestamp> {
    let (policy, usage) = (&quota.policy, &quota.usage);
    let at_once = policy.generation_at;
    if policy.deleted_at.is_some() {
        return Some(at_once);
    }
    if policy
        .max_concurrent
        .is_some_and(|max| usage.slots.len() as u64 + promised >= max)
    {
        return None;
    }
    let Some(max) = policy
        .max_requests_per_window
        .filter(|_| policy.continuing_in.is_empty())
    else {
        return Some(at_once);
    };
    let others = max.checked_sub(promised + 1)?;
    let place_free_at = usage.window.falls_to(others, policy.window);
    Some(place_free_at.map_or(at_once, |at| at.max(at_once)))
}

/// Begins a release if one is due. The room it hands out is kept for what it releases, for a moment.
pub fn advance(quota: &mut Quota, now: Timestamp) -> Option<Release> {
    if !due_at(quota)?.has_come(now) {
        return None;
    }
    let policy = &mut quota.policy;
    policy.promise = policy.promise.filter(|promise| !promise.until.has_come(now));
    // Whoever marks a partition from here on knows that this release may not have seen its work.
    move_generation(policy, now);
    let kept = policy.promise.unwrap_or(Promise {
        count: 0,
        until: now + PROMISE_TTL,
    });
    let room = room_beside(quota, kept.count, now);
    let count = kept.count.saturating_add(released_at_most(&quota.policy, room));
    quota.policy.promise = (count > 0).then_some(Promise { count, ..kept });
    Some(Release {
        round: quota.policy.generation,
        partitions: quota.policy.blocked_in.partitions().collect(),
        room,
    })
}

fn released_at_most(policy: &QuotaPolicy, room: Room) -> u64 {
    let slots = room.slots.filter(|_| !policy.continuing_in.is_empty());
    slots.or(room.fits()).unwrap_or(0)
}

/// Work is about to be blocked by this quota in `partition`; work that continues an attempt waits for a slot only.
pub fn mark_blocked(policy: &mut QuotaPolicy, partition: Partition, continues: bool) {
    policy.blocked_in.mark(partition, policy.generation);
    if continues {
        policy.continuing_in.mark(partition, policy.generation);
    }
}

/// The release that began with generation `round` left nothing in `partition`.
pub fn forget_blocked(policy: &mut QuotaPolicy, partition: Partition, round: u64) {
    policy.blocked_in.forget(partition, round);
    policy.continuing_in.forget(partition, round);
}

/// The release that began with generation `round` left nothing in `partition` that continues an attempt.
pub fn forget_continuing(policy: &mut QuotaPolicy, partition: Partition, round: u64) {
    policy.continuing_in.forget(partition, round);
}
