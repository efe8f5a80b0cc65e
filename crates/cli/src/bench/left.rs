//! What is left to do, for whoever does it and whoever brings more.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::futures::Notified;
use tokio::sync::{Notify, Semaphore};

/// Tasks that are not done. Whoever waits for more of them when there are none goes home.
pub(super) struct Left {
    tasks: AtomicUsize,
    none: Notify,
    /// Tasks that may be submitted, by whoever goes by that: as many as were done.
    room: Semaphore,
}

impl Left {
    pub(super) fn new(tasks: usize) -> Arc<Self> {
        Arc::new(Self {
            tasks: AtomicUsize::new(tasks),
            none: Notify::new(),
            room: Semaphore::new(0),
        })
    }

    pub(super) fn count(&self) -> usize {
        self.tasks.load(Ordering::Relaxed)
    }

    /// Completes when there are none, if there are some now.
    pub(super) fn none(&self) -> Notified<'_> {
        self.none.notified()
    }

    /// So many were done.
    pub(super) fn is_done(&self, tasks: usize) {
        self.make_room(tasks);
        self.are_fewer(tasks);
    }

    /// So many need not be done, or were.
    pub(super) fn are_fewer(&self, tasks: usize) {
        if self.tasks.fetch_sub(tasks, Ordering::Relaxed) == tasks {
            self.none.notify_waiters();
        }
    }

    /// So many more may be submitted.
    pub(super) fn make_room(&self, tasks: usize) {
        self.room.add_permits(tasks);
    }

    /// Waits until so many may be submitted.
    pub(super) async fn room(&self, tasks: usize) -> anyhow::Result<()> {
        self.room.acquire_many(u32::try_from(tasks)?).await?.forget();
        Ok(())
    }
}
