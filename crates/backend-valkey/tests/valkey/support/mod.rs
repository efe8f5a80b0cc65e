//! Stores for the suites.

use std::sync::Arc;

use async_trait::async_trait;
use ff_backend::Backend;
use ff_backend::conformance::Harness;
use ff_backend_valkey::{Options, ValkeyBackend};
use ff_core::partition::PartitionCounts;
use ff_core::time::Duration;

/// Few enough that the suite fills a feed.
const FEED_LINES_MAX: u32 = 300;

/// A store on some servers.
pub(crate) struct ValkeyHarness(Arc<ValkeyBackend>);

impl ValkeyHarness {
    /// The store at these addresses, which must be empty.
    pub(crate) async fn open(urls: Vec<String>) -> Self {
        let options = Options {
            urls,
            feed_lines_max: FEED_LINES_MAX,
            ..Options::new("")
        };
        Self(Arc::new(ValkeyBackend::open(&options).await.unwrap()))
    }
}

#[async_trait]
impl Harness for ValkeyHarness {
    fn backend(&self) -> Arc<dyn Backend> {
        self.0.clone()
    }

    async fn advance(&self, by: Duration) {
        self.0.advance_clock(by);
    }

    fn counts(&self) -> PartitionCounts {
        PartitionCounts::default()
    }

    fn orders_across_partitions(&self) -> bool {
        false
    }

    fn feed_lines_max(&self) -> Option<usize> {
        Some(FEED_LINES_MAX as usize)
    }
}
