//! What tells a desk that there may be something for it.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

/// The bell of one desk. It counts, so that a ring during a round is not taken for one before it.
#[derive(Default)]
pub(super) struct Bell {
    rung: AtomicU64,
    called: Notify,
}

impl Bell {
    /// There may be something new.
    pub(super) fn ring(&self) {
        self.rung.fetch_add(1, Ordering::SeqCst);
        self.called.notify_one();
    }

    /// Somebody wants to be served; nothing is known to be new.
    pub(super) fn call(&self) {
        self.called.notify_one();
    }

    /// How often it rang so far.
    pub(super) fn rung(&self) -> u64 {
        self.rung.load(Ordering::SeqCst)
    }

    /// Completes at the next ring or call, or at once if there was one since the last time.
    pub(super) async fn heard(&self) {
        self.called.notified().await;
    }
}
