//! What tells a claim queue that there may be something for it.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

/// Wakes the loop that serves one queue. It counts, so that a wake-up during a round is not taken for one before it.
#[derive(Default)]
pub(super) struct WakeUp {
    count: AtomicU64,
    notify: Notify,
}

impl WakeUp {
    /// There may be something new in the store.
    pub(super) fn wake(&self) {
        self.count.fetch_add(1, Ordering::SeqCst);
        self.notify.notify_one();
    }

    /// The queue itself has changed; nothing in the store is known to be new, so this does not count.
    pub(super) fn queue_changed(&self) {
        self.notify.notify_one();
    }

    /// How often there may have been something new so far.
    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }

    /// Completes with the next of either, or at once if there was one since the last time.
    pub(super) async fn woken(&self) {
        self.notify.notified().await;
    }
}
