//! What needs attention.

use ff_core::id::{BudgetId, QuotaPolicyId};
use ff_core::partition::Partition;
use ff_core::record::RecordKey;
use ff_core::time::Timestamp;

/// Asks what is due in some partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// Where; partitions of any family.
    pub partitions: Vec<Partition>,
    /// At most this many.
    pub limit: usize,
}

/// What is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuePage {
    /// The store's time.
    pub now: Timestamp,
    /// What is due, longest overdue first.
    pub items: Vec<DueItem>,
    /// When the next thing becomes due after those.
    pub next: Option<Timestamp>,
}

/// One thing that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueItem {
    /// Where.
    pub partition: Partition,
    /// What.
    pub key: DueKey,
    /// Since when.
    pub due_at: Timestamp,
}

/// What can become due.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DueKey {
    /// A record of a flow partition: by its timer, or because it was nudged.
    Record(RecordKey),
    /// A budget whose reset has come.
    Budget(BudgetId),
    /// A quota policy whose window moved while work waits for it.
    Quota(QuotaPolicyId),
}
