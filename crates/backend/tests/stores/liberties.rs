//! The suite asks for nothing that the contract does not promise: a store passes although its clock runs on by itself
//! and its pages are shorter than they were asked to be.

use std::sync::Arc;

use async_trait::async_trait;
use ff_backend::conformance::Harness;
use ff_backend::layer::Layer;
use ff_backend::memory::MemoryBackend;
use ff_backend::query::{Page, Query};
use ff_backend::{Backend, Result};
use ff_core::partition::PartitionCounts;
use ff_core::time::{Duration, Timestamp};

/// Time that passes with every call.
const TICK: Duration = Duration::from_millis(1);

/// A memory store that takes liberties.
struct Free(MemoryBackend);

#[async_trait]
impl Layer for Free {
    fn inner(&self) -> &dyn Backend {
        self.0.advance(TICK);
        &self.0
    }

    async fn list(&self, query: Query) -> Result<Page> {
        let limit = query.limit.div_ceil(2);
        self.inner().list(Query { limit, ..query }).await
    }
}

struct FreeHarness(Arc<Free>);

#[async_trait]
impl Harness for FreeHarness {
    fn backend(&self) -> Arc<dyn Backend> {
        self.0.clone()
    }

    async fn advance(&self, by: Duration) {
        self.0.0.advance(by);
    }

    fn counts(&self) -> PartitionCounts {
        PartitionCounts::default()
    }
}

async fn free() -> FreeHarness {
    let start = Timestamp::from_millis(1_700_000_000_000);
    FreeHarness(Arc::new(Free(MemoryBackend::new(start, PartitionCounts::default()))))
}

ff_backend::conformance_suite!(free);
