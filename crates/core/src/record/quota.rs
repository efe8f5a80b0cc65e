//! Quota policies: how many requests per window, how many leases at once.

use serde::{Deserialize, Serialize};

use super::{BlockedIn, Carried};
use crate::digest::Digest;
use crate::id::QuotaPolicyId;
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
