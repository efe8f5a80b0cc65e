//! Operations on one record take turns inside the process, so that they do not make each other conflict.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ff_core::record::RecordKey;
use tokio::sync::OwnedMutexGuard;

type Door = Arc<tokio::sync::Mutex<()>>;

/// One door per record somebody works on.
#[derive(Default)]
pub(crate) struct Turns {
    doors: Mutex<HashMap<RecordKey, Door>>,
}

/// Somebody's turn on a record; ends when dropped.
pub(crate) struct Turn<'t> {
    turns: &'t Turns,
    key: RecordKey,
    guard: Option<OwnedMutexGuard<()>>,
}

impl Turns {
    /// Waits for the turn on a record.
    pub(crate) async fn take(&self, key: RecordKey) -> Turn<'_> {
        let door = Arc::clone(self.doors().entry(key.clone()).or_default());
        let mut turn = Turn {
            turns: self,
            key,
            guard: None,
        };
        turn.guard = Some(door.lock_owned().await);
        turn
    }

    fn doors(&self) -> MutexGuard<'_, HashMap<RecordKey, Door>> {
        self.doors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.guard = None;
        let mut doors = self.turns.doors();
        // Whoever waits at the door holds it too; the last one to leave takes it away.
        if doors.get(&self.key).is_some_and(|door| Arc::strong_count(door) == 1) {
            doors.remove(&self.key);
        }
    }
}
