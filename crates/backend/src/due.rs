//! What needs attention.

use std::collections::BTreeMap;

use ff_core::ledger::AccountKey;
use ff_core::partition::Partition;
use ff_core::record::RecordKey;
use ff_core::time::{Timestamp, earliest};

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

impl DuePage {
    /// The page of what was found in all partitions; `next` is when the next thing becomes due that was not found.
    ///
    /// A record whose timer has come and that was nudged is found twice: it is reported once, since the earlier of both.
    pub fn of(now: Timestamp, found: impl IntoIterator<Item = DueItem>, limit: usize, next: Option<Timestamp>) -> Self {
        let mut since: BTreeMap<(Partition, DueKey), Timestamp> = BTreeMap::new();
        for DueItem { partition, key, due_at } in found {
            let first = since.entry((partition, key)).or_insert(due_at);
            *first = due_at.min(*first);
        }
        let items = since.into_iter();
        let items = items.map(|((partition, key), due_at)| DueItem { partition, key, due_at });
        let mut items: Vec<DueItem> = items.collect();
        items.sort_by(|a, b| (a.due_at, &a.key, a.partition).cmp(&(b.due_at, &b.key, b.partition)));
        let first_left = items.get(limit).map(|item| item.due_at);
        items.truncate(limit);
        Self {
            now,
            items,
            next: earliest([first_left, next]),
        }
    }
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
    /// An account that somebody must look at: a reset has come, a limit was passed, or there may be room for work that waits.
    Account(AccountKey),
}
