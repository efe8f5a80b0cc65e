//! The reference backend keeps every promise.

use std::sync::Arc;

use async_trait::async_trait;
use ff_backend::Backend;
use ff_backend::conformance::Harness;
use ff_backend::memory::MemoryBackend;
use ff_core::partition::PartitionCounts;
use ff_core::time::{Duration, Timestamp};

/// Few enough to be reached by a case.
const FEED_LINES_MAX: usize = 2_000;

struct MemoryHarness(Arc<MemoryBackend>);

#[async_trait]
impl Harness for MemoryHarness {
    fn backend(&self) -> Arc<dyn Backend> {
        self.0.clone()
    }

    async fn advance(&self, by: Duration) {
        self.0.advance(by);
    }

    fn counts(&self) -> PartitionCounts {
        PartitionCounts::default()
    }

    fn work_counter(&self) -> Option<u64> {
        Some(self.0.entries_visited())
    }

    fn feed_lines_max(&self) -> Option<usize> {
        Some(FEED_LINES_MAX)
    }
}

async fn memory() -> MemoryHarness {
    let start = Timestamp::from_millis(1_700_000_000_000);
    let backend = MemoryBackend::new(start, PartitionCounts::default());
    MemoryHarness(Arc::new(backend.with_feed_lines_max(FEED_LINES_MAX)))
}

ff_backend::conformance_suite!(memory);
