//! Work that no record is due for: queues of closed budgets, slots to check. A sweep or a report found it.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::items::Item;

/// What was found and not started yet, each item once. Losing it costs time: the next sweep finds it again.
#[derive(Default)]
pub(super) struct Findings {
    waiting: Mutex<BTreeSet<Item>>,
}

impl Findings {
    pub(super) fn add(&self, item: Item) {
        self.waiting().insert(item);
    }

    pub(super) fn take(&self) -> BTreeSet<Item> {
        std::mem::take(&mut *self.waiting())
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeSet<Item>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
