//! Quota policies: how many requests per window, how many leases at once; and what is taken of both.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{BlockedIn, Carried};
use crate::digest::Digest;
use crate::id::{ExecutionId, GrantId, QuotaPolicyId};
use crate::name::Namespace;
use crate::time::{Duration, Timestamp};

/// A sliding-window rate and a concurrency cap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuotaPolicy {
    /// Its name.
    pub id: QuotaPolicyId,
    /// The tenant.
    pub namespace: Namespace,
    /// How long a request counts.
    #[serde(rename = "window_ms")]
    pub window: Duration,
    /// Attempts that may start in any window; absent is no limit, 0 is none.
    pub max_requests_per_window: Option<u64>,
    /// Leases that may be held at once; absent is no limit, 0 is none.
    pub max_concurrent: Option<u64>,
    /// Spreads what refused callers are told to wait.
    #[serde(rename = "jitter_ms")]
    pub jitter: Duration,
    /// When it was created.
    pub created_at: Timestamp,
    /// Digest of what it was created as, so that a repeated creation is recognised whatever its limits are now.
    pub definition_digest: Digest,
    /// Moves whenever blocked work may have become admissible, and with every release of it.
    pub generation: u64,
    /// When the generation last moved.
    pub generation_at: Timestamp,
    /// Deleted: it limits nothing any more. The record stays, so that the id is not used again.
    pub deleted_at: Option<Timestamp>,
    /// Where work waits for it.
    pub blocked_in: BlockedIn,
    /// Where some of that work continues an attempt, and so waits for a slot only.
    pub continuing_in: BlockedIn,
    /// Room that released work is on its way to take.
    pub promise: Option<Promise>,
    /// What a later format holds besides.
    #[serde(skip)]
    pub carried: Carried,
}

/// Room kept for work that was released but not admitted yet, so that nobody else is released into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promise {
    /// For how many.
    pub count: u64,
    /// Until when; what has not come by then may never come.
    pub until: Timestamp,
}

/// What is taken of a quota policy. Kept beside the policy, in whatever shape the store counts best.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// For which execution.
    pub execution_id: ExecutionId,
    /// Since when.
    pub taken_at: Timestamp,
}

/// A request that counts in the rate window: one attempt is one request, however often it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
