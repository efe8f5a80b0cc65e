//! The memory backend as the conformance suite sees it.

use std::sync::Arc;

use ff_backend::Backend;
use ff_backend::conformance::Harness;
use ff_backend::memory::{Flaw, MemoryBackend};
use ff_core::partition::PartitionCounts;
use ff_core::time::{Duration, Timestamp};

/// Some moment; the clock of the store stands there until it is moved.
const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);
/// Few enough to be reached by a case.
const FEED_LINES_MAX: usize = 2_000;

/// A store in memory with everything the suite can use.
pub struct MemoryHarness {
    backend: Arc<MemoryBackend>,
}

/// A fresh store, with `flaw` if there is one.
pub fn make(flaw: Option<Flaw>) -> MemoryHarness {
    let counts = PartitionCounts::default();
    let backend = match flaw {
        None => MemoryBackend::new(START, counts),
        Some(flaw) => MemoryBackend::with_flaw(START, counts, flaw),
    };
    let backend = Arc::new(backend.with_feed_lines_max(FEED_LINES_MAX));
    MemoryHarness { backend }
}

#[async_trait::async_trait]
impl Harness for MemoryHarness {
    fn backend(&self) -> Arc<dyn Backend> {
        self.backend.clone()
    }

    async fn advance(&self, by: Duration) {
        self.backend.advance(by);
    }

    fn counts(&self) -> PartitionCounts {
        PartitionCounts::default()
    }

    fn work_counter(&self) -> Option<u64> {
        Some(self.backend.entries_visited())
    }

    fn hint_wait(&self) -> std::time::Duration {
        std::time::Duration::from_millis(100)
    }

    fn feed_lines_max(&self) -> Option<usize> {
        Some(FEED_LINES_MAX)
    }
}
