//! Which namespace a budget or a quota policy belongs to: that never changes, so it is asked once.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff_core::name::Namespace;
use ff_core::record::Cause;

/// How many are remembered; then all are forgotten.
const OWNERS_MAX: usize = 10_000;

#[derive(Default)]
pub(super) struct Owners(Mutex<HashMap<Cause, Namespace>>);

impl Owners {
    /// `None`: nobody asked yet.
    pub(super) fn of(&self, cause: Cause) -> Option<Namespace> {
        self.known().get(&cause).cloned()
    }

    pub(super) fn learn(&self, cause: Cause, owner: &Namespace) {
        let mut known = self.known();
        if known.len() >= OWNERS_MAX {
            known.clear();
        }
        known.insert(cause, owner.clone());
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Cause, Namespace>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
