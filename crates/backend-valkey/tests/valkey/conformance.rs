//! The whole conformance suite, each case on a server of its own.

use std::sync::Arc;

use async_trait::async_trait;
use ff_backend::Backend;
use ff_backend::conformance::Harness;
use ff_core::partition::PartitionCounts;
use ff_core::time::Duration;
use ff_valkey_server::Standalone;

use crate::support::ValkeyHarness;

/// A store with the server it is on.
struct Alone {
    store: ValkeyHarness,
    _server: Standalone,
}

#[async_trait]
impl Harness for Alone {
    fn backend(&self) -> Arc<dyn Backend> {
        self.store.backend()
    }

    async fn advance(&self, by: Duration) {
        self.store.advance(by).await;
    }

    fn counts(&self) -> PartitionCounts {
        self.store.counts()
    }

    fn orders_across_partitions(&self) -> bool {
        self.store.orders_across_partitions()
    }

    fn feed_lines_max(&self) -> Option<usize> {
        self.store.feed_lines_max()
    }
}

async fn make() -> Alone {
    let server = Standalone::start(Default::default()).await;
    Alone {
        store: ValkeyHarness::open(vec![server.url()]).await,
        _server: server,
    }
}

ff_backend::conformance_suite!(make);
