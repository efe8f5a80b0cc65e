//! Quota policies: create, change, delete, read; and the slots and places of admission.

use crate::id::{ExecutionId, GrantId, QuotaPolicyId};
use crate::name::Namespace;
use crate::record::Place;
use crate::time::{Duration, Timestamp};

/// Creates a quota policy.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateQuotaPolicy {
    /// Its id; minted when absent.
    pub quota_policy_id: Option<QuotaPolicyId>,
    /// The tenant.
    pub namespace: Namespace,
    /// How long a request counts.
    pub window: Duration,
    /// Attempts that may start in any window; absent is no limit, 0 is none.
    pub max_requests_per_window: Option<u64>,
    /// Leases that may be held at once; absent is no limit, 0 is none.
    pub max_concurrent: Option<u64>,
    /// Spreads what refused callers are told to wait.
    pub jitter: Duration,
}

/// What became of a creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotaCreated {
    /// It is there now.
    Created,
    /// It was created before with the same definition.
    Exists,
}

/// A quota policy that is there now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreatedQuotaPolicy {
    /// Its id.
    pub quota_policy_id: QuotaPolicyId,
    /// New, or there before.
    pub created: QuotaCreated,
}

/// Changes a quota policy; what is not named stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpdateQuotaPolicy {
    /// How long a request counts.
    pub window: Option<Duration>,
    /// The rate.
    pub max_requests_per_window: LimitChange,
    /// The concurrency cap.
    pub max_concurrent: LimitChange,
    /// The spread of waiting times.
    pub jitter: Option<Duration>,
}

/// What happens to one limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LimitChange {
    /// It stays.
    #[default]
    Keep,
    /// There is none any more.
    Remove,
    /// This one holds.
    Set(u64),
}

impl LimitChange {
    /// The limit after the change.
    pub const fn apply(self, limit: Option<u64>) -> Option<u64> {
        match self {
            LimitChange::Keep => limit,
            LimitChange::Remove => None,
            LimitChange::Set(limit) => Some(limit),
        }
    }
}

/// Asks for a slot, and for a place in the window if the attempt has none yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admit {
    /// The grant the slot is taken under; the same grant takes one slot however often it asks.
    pub grant_id: GrantId,
    /// For which execution.
    pub execution_id: ExecutionId,
    /// Which attempt will run.
    pub attempt_index: u32,
    /// The attempt has run before (`next_claim.continues`): its place was taken then, and it needs no other.
    pub continues: bool,
    /// Fresh randomness, for jitter.
    pub dice: u64,
}

impl Admit {
    /// The place the attempt takes.
    pub const fn place(&self) -> Place {
        Place {
            execution_id: self.execution_id,
            attempt_index: self.attempt_index,
        }
    }
}

/// A quota's answer to an admission. What is refused took nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotaAdmission {
    /// Slot and place are taken.
    Admitted,
    /// This grant took them before.
    AlreadyAdmitted,
    /// The policy was deleted: nothing is taken, nothing limits.
    Unlimited,
    /// The grant was released before it asked: its reservation is over.
    Late,
    /// No slot is free.
    CapFull {
        /// Slots taken.
        in_use: u64,
        /// Slots there are.
        max_concurrent: u64,
        /// When to try again; absent: only a change of the limit helps.
        retry_after: Option<Duration>,
        /// The policy's generation.
        generation: u64,
    },
    /// No place is free.
    WindowFull {
        /// Places taken.
        taken: u64,
        /// Places there are.
        max_requests_per_window: u64,
        /// How long a place stays taken.
        window: Duration,
        /// When to try again; absent: only a change of the limit helps.
        retry_after: Option<Duration>,
        /// The policy's generation.
        generation: u64,
    },
}

/// What became of a released slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotReleased {
    /// It is free now.
    Freed,
    /// The grant held none; if it asks for one later it is too late.
    Unknown,
    /// The policy was deleted; there is nothing to free.
    Gone,
}

/// A quota policy as it is read.
#[derive(Clone, Debug, PartialEq)]
pub struct QuotaPolicyView {
    /// Its name.
    pub quota_policy_id: QuotaPolicyId,
    /// The tenant.
    pub namespace: Namespace,
    /// How long a request counts.
    pub window: Duration,
    /// Attempts that may start in any window.
    pub max_requests_per_window: Option<u64>,
    /// Leases that may be held at once.
    pub max_concurrent: Option<u64>,
    /// The spread of waiting times.
    pub jitter: Duration,
    /// When it was created.
    pub created_at: Timestamp,
    /// Moves whenever blocked work may have become admissible.
    pub generation: u64,
    /// Slots taken.
    pub in_use: u64,
    /// Places taken in the current window; counted only while there is a rate.
    pub requests_in_window: u64,
    /// Whether it limits anything.
    pub state: QuotaState,
}

/// Whether a quota policy limits anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotaState {
    /// It does.
    Active,
    /// It was deleted.
    Deleted,
}
