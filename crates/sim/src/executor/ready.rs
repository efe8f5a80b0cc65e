//! Who could go on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Wake;

use super::TaskId;
use crate::luck::Luck;

/// Tasks that could go on, in the order they were spawned. In which order they were woken does not matter: whoever wakes
/// several at once may do so in an order that differs from run to run.
#[derive(Default)]
pub(super) struct Ready(Mutex<Vec<TaskId>>);

impl Ready {
    pub(super) fn insert(&self, id: TaskId) {
        let mut ready = self.ready();
        if let Err(place) = ready.binary_search(&id) {
            ready.insert(place, id);
        }
    }

    /// Takes the one that luck chooses.
    pub(super) fn take(&self, luck: &Luck) -> Option<TaskId> {
        let mut ready = self.ready();
        if ready.is_empty() {
            return None;
        }
        let place = luck.index(ready.len());
        Some(ready.remove(place))
    }

    fn ready(&self) -> MutexGuard<'_, Vec<TaskId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says that a task could go on.
pub(super) struct TaskWaker {
    pub(super) id: TaskId,
    pub(super) ready: Arc<Ready>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.ready.insert(self.id);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ready.insert(self.id);
    }
}
