//! Work no record is due for: what the sweeps found.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::items::Item;

/// Errands to be run, each one once. Losing them costs time: the next sweep finds them again.
#[derive(Default)]
pub(super) struct Errands {
    waiting: Mutex<BTreeSet<Item>>,
}

impl Errands {
    /// Asks for one.
    pub(super) fn add(&self, item: Item) {
        self.waiting().insert(item);
    }

    /// Takes all of them.
    pub(super) fn take(&self) -> BTreeSet<Item> {
        std::mem::take(&mut *self.waiting())
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeSet<Item>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
