//! The rules of quota policies as one atomic step each, over all that is taken of one. No store does it this way; what accounts
//! come to is compared with it.

use std::collections::{BTreeMap, BTreeSet};

use super::define::{self, move_generation};
use super::due::{Outlook, due_when, headroom_beside, places_beside, release_when_due};
use super::slot::{Admit, QuotaAdmission, SlotReleased};
use crate::command::budget::{Deleted, Updated};
use crate::command::quota::{CreateQuotaPolicy, QuotaCreated, QuotaPolicyView, UpdateQuotaPolicy};
use crate::error::Rejection;
use crate::id::{ExecutionId, GrantId, QuotaPolicyId};
use crate::limits::GRANT_TTL_MAX;
use crate::machine::admission::{Headroom, Release};
use crate::partition::Partition;
use crate::record::QuotaPolicy;
use crate::time::{Duration, Timestamp};

pub use super::account::CAP_RETRY_AFTER;
pub use super::{WINDOW_DEFAULT, WINDOW_MAX, WINDOW_MIN, not_found};

/// A quota policy with what is taken of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Quota {
    /// The policy.
    pub policy: QuotaPolicy,
    /// What is taken.
    pub usage: QuotaUsage,
}

/// What is taken of a quota policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuotaUsage {
    /// Slots by the grant they were taken under.
    pub slots: BTreeMap<GrantId, Slot>,
    /// Requests that count in the rate window.
    pub window: Recent<WindowRequest>,
    /// Grants that were released without holding a slot; remembered for the longest life of a grant.
    pub tombstones: Recent<GrantId>,
}

/// A concurrency slot, held by a grant and then by its lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// For which execution.
    pub execution_id: ExecutionId,
    /// Since when.
    pub taken_at: Timestamp,
}

/// A request that counts in the rate window: one attempt is one request, however often it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WindowRequest {
    /// Of which execution.
    pub execution_id: ExecutionId,
    /// Which attempt.
    pub attempt_index: u32,
}

/// Keys that count for a fixed span from when they came: what came at `t` counts in `t .. t + span`, the end excluded.
#[derive(Clone, Debug, PartialEq)]
pub struct Recent<K> {
    came_at: BTreeMap<K, Timestamp>,
    by_age: BTreeSet<(Timestamp, K)>,
}

impl<K> Default for Recent<K> {
    fn default() -> Self {
        Self {
            came_at: BTreeMap::new(),
            by_age: BTreeSet::new(),
        }
    }
}

impl<K: Copy + Ord> Recent<K> {
    /// `key` comes at `now`.
    pub fn insert(&mut self, key: K, now: Timestamp) {
        if let Some(before) = self.came_at.insert(key, now) {
            self.by_age.remove(&(before, key));
        }
        self.by_age.insert((now, key));
    }

    /// Drops what no longer counts at `now`.
    pub fn slide(&mut self, span: Duration, now: Timestamp) {
        while let Some((came_at, key)) = self
            .by_age
            .first()
            .copied()
            .filter(|(at, _)| (*at + span).has_come(now))
        {
            self.by_age.remove(&(came_at, key));
            self.came_at.remove(&key);
        }
    }

    /// Whether `key` counts at `now`.
    pub fn holds(&self, key: K, span: Duration, now: Timestamp) -> bool {
        self.came_at.get(&key).is_some_and(|at| !(*at + span).has_come(now))
    }

    /// How many count at `now`.
    pub fn count(&self, span: Duration, now: Timestamp) -> u64 {
        let gone = self
            .by_age
            .iter()
            .take_while(|(at, _)| (*at + span).has_come(now))
            .count();
        (self.by_age.len() - gone) as u64
    }

    /// The moment from which at most `count` count, if nothing comes; `None` when there never were more.
    pub fn falls_to(&self, count: u64, span: Duration) -> Option<Timestamp> {
        let last_to_go = (self.by_age.len() as u64).checked_sub(count)?.checked_sub(1)?;
        let (came_at, _) = self.by_age.iter().nth(usize::try_from(last_to_go).ok()?)?;
        Some(*came_at + span)
    }
}

impl Admit {
    /// The attempt as it counts in the window.
    const fn window_request(&self) -> WindowRequest {
        WindowRequest {
            execution_id: self.execution_id,
            attempt_index: self.attempt_index,
        }
    }
}

/// Fills an empty slot.
pub fn create(
    slot: &mut Option<Quota>,
    id: QuotaPolicyId,
    command: &CreateQuotaPolicy,
    now: Timestamp,
) -> Result<QuotaCreated, Rejection> {
    let mut policy = slot.as_ref().map(|quota| quota.policy.clone());
    let created = define::create(&mut policy, id, command, now)?;
    let new = |policy| Quota {
        policy,
        usage: QuotaUsage::default(),
    };
    if slot.is_none() {
        *slot = policy.map(new);
    }
    Ok(created)
}

/// Changes limits.
pub fn update(quota: &mut Quota, command: &UpdateQuotaPolicy, now: Timestamp) -> Result<Updated, Rejection> {
    define::update(&mut quota.policy, command, now)
}

/// Leaves a tombstone; nothing is taken of it any more.
pub fn delete(quota: &mut Quota, now: Timestamp) -> Deleted {
    quota.usage = QuotaUsage::default();
    define::delete(&mut quota.policy, now)
}

/// The policy as it is at `now`, deleted or not.
pub fn view(quota: &Quota, now: Timestamp) -> QuotaPolicyView {
    let requests = quota.usage.window.count(quota.policy.window, now);
    define::view(&quota.policy, quota.usage.slots.len() as u64, requests)
}

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
        return SlotReleased::Unknown;
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

/// How many could be admitted at `now`.
pub fn headroom(quota: &Quota, now: Timestamp) -> Headroom {
    let usage = &quota.usage;
    headroom_beside(
        &quota.policy,
        usage.slots.len() as u64,
        usage.window.count(quota.policy.window, now),
    )
}

/// The moment at which waiting work may be released. `None`: nothing waits, or only a freed slot or a changed limit helps.
pub fn due_at(quota: &Quota) -> Option<Timestamp> {
    due_when(&quota.policy, &outlook(quota))
}

fn outlook(quota: &Quota) -> Outlook {
    let (policy, usage) = (&quota.policy, &quota.usage);
    let free_at = |promised| usage.window.falls_to(places_beside(policy, promised)?, policy.window);
    Outlook {
        slots: usage.slots.len() as u64,
        place_free_at: free_at(0),
        unpromised_place_free_at: policy.promise.and_then(|promise| free_at(promise.count)),
    }
}

/// Begins a release if one is due. The room it hands out is kept for what it releases, for a moment.
pub fn advance(quota: &mut Quota, now: Timestamp) -> Option<Release> {
    let outlook = outlook(quota);
    let places = quota.usage.window.count(quota.policy.window, now);
    release_when_due(&mut quota.policy, &outlook, places, now)
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
