//! Waiting for something to happen to one thing, without asking the store again and again.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Who waits, by what they wait for.
pub(crate) struct Waiters<K> {
    by_key: Mutex<HashMap<K, Arc<Notify>>>,
}

/// Somebody who waits for one thing.
pub(crate) struct Waiter<'b, K: Eq + Hash> {
    all: &'b Waiters<K>,
    key: K,
    notify: Arc<Notify>,
}

impl<K> Default for Waiters<K> {
    fn default() -> Self {
        Self {
            by_key: Mutex::default(),
        }
    }
}

impl<K: Eq + Hash + Clone> Waiters<K> {
    /// Waits from now on: a wake-up between two waits is not missed.
    pub(crate) fn join(&self, key: K) -> Waiter<'_, K> {
        let notify = Arc::clone(self.by_key().entry(key.clone()).or_default());
        Waiter { all: self, key, notify }
    }

    /// Something happened to `key`.
    pub(crate) fn wake(&self, key: &K) {
        if let Some(notify) = self.by_key().get(key) {
            notify.notify_waiters();
        }
    }

    /// Something may have happened to anything.
    pub(crate) fn wake_all(&self) {
        self.wake_where(|_| true);
    }

    /// Something may have happened to any of these.
    pub(crate) fn wake_where(&self, is_meant: impl Fn(&K) -> bool) {
        for (_, notify) in self.by_key().iter().filter(|(key, _)| is_meant(key)) {
            notify.notify_waiters();
        }
    }

    /// Whether nobody waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_key().is_empty()
    }

    fn by_key(&self) -> MutexGuard<'_, HashMap<K, Arc<Notify>>> {
        self.by_key.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash> Waiter<'_, K> {
    /// The next wake-up. Make it before looking, await it after: then one in between is not missed.
    pub(crate) fn next_wake(&self) -> tokio::sync::futures::OwnedNotified {
        Arc::clone(&self.notify).notified_owned()
    }
}

impl<K: Eq + Hash> Drop for Waiter<'_, K> {
    fn drop(&mut self) {
        let mut by_key = self.all.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        // The map's own and this one.
        if Arc::strong_count(&self.notify) <= 2 {
            by_key.remove(&self.key);
        }
    }
}
