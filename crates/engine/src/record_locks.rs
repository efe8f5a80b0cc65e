//! One operation at a time per record inside the process, so that they do not make each other conflict.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ff_core::record::RecordKey;
use tokio::sync::OwnedMutexGuard;

type Lock = Arc<tokio::sync::Mutex<()>>;

/// One lock per record somebody works on.
#[derive(Default)]
pub(crate) struct RecordLocks {
    locks: Mutex<HashMap<RecordKey, Lock>>,
}

/// A record nobody else in this process works on until this is dropped.
pub(crate) struct RecordLock<'t> {
    all: &'t RecordLocks,
    key: RecordKey,
    guard: Option<OwnedMutexGuard<()>>,
}

impl RecordLocks {
    /// Waits until nobody else works on a record.
    pub(crate) async fn lock(&self, key: RecordKey) -> RecordLock<'_> {
        let lock = Arc::clone(self.locks().entry(key.clone()).or_default());
        let mut locked = RecordLock {
            all: self,
            key,
            guard: None,
        };
        locked.guard = Some(lock.lock_owned().await);
        locked
    }

    fn locks(&self) -> MutexGuard<'_, HashMap<RecordKey, Lock>> {
        self.locks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RecordLock<'_> {
    fn drop(&mut self) {
        self.guard = None;
        let mut locks = self.all.locks();
        // Whoever waits for the lock holds a reference too; the last one removes it.
        if locks.get(&self.key).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            locks.remove(&self.key);
        }
    }
}
