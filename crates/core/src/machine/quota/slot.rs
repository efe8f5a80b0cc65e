//! What a grant asks a quota for, and what it is answered.

use crate::id::{ExecutionId, GrantId};
use crate::record::Execution;
use crate::time::Duration;

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
}

/// Whether an execution still holds the slot of a grant, as a grant or as the lease that came of it.
pub fn holds_slot(execution: &Execution, grant_id: GrantId) -> bool {
    let leased = execution.lease().is_some_and(|lease| lease.grant == Some(grant_id));
    leased || execution.grant().is_some_and(|grant| grant.id == grant_id)
}
