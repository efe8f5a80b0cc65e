//! Waiting for something to happen to one thing, without asking the store again and again.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// One bell per thing somebody waits for.
pub(crate) struct Bells<K> {
    bells: Mutex<HashMap<K, Arc<Notify>>>,
}

/// Listens to the bell of one thing.
pub(crate) struct Ear<'b, K: Eq + Hash> {
    bells: &'b Bells<K>,
    key: K,
    bell: Arc<Notify>,
}

impl<K> Default for Bells<K> {
    fn default() -> Self {
        Self {
            bells: Mutex::default(),
        }
    }
}

impl<K: Eq + Hash + Clone> Bells<K> {
    /// Listens from now on: a ring between two waits is not missed.
    pub(crate) fn listen(&self, key: K) -> Ear<'_, K> {
        let bell = Arc::clone(self.bells().entry(key.clone()).or_default());
        Ear { bells: self, key, bell }
    }

    /// Something happened to `key`.
    pub(crate) fn ring(&self, key: &K) {
        if let Some(bell) = self.bells().get(key) {
            bell.notify_waiters();
        }
    }

    /// Something may have happened to anything.
    pub(crate) fn ring_all(&self) {
        for bell in self.bells().values() {
            bell.notify_waiters();
        }
    }

    fn bells(&self) -> MutexGuard<'_, HashMap<K, Arc<Notify>>> {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash> Ear<'_, K> {
    /// The next ring. Make it before looking, await it after: then a ring in between is heard.
    pub(crate) fn next_ring(&self) -> tokio::sync::futures::OwnedNotified {
        Arc::clone(&self.bell).notified_owned()
    }
}

impl<K: Eq + Hash> Drop for Ear<'_, K> {
    fn drop(&mut self) {
        let mut bells = self.bells.bells.lock().unwrap_or_else(PoisonError::into_inner);
        // The map's own and this one.
        if Arc::strong_count(&self.bell) <= 2 {
            bells.remove(&self.key);
        }
    }
}
