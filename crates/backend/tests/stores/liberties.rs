//! The suite asks for nothing that the contract does not promise: a store passes although its clock runs on by itself
//! and its pages are shorter than they were asked to be.

use std::sync::Arc;

use async_trait::async_trait;
use ff_backend::budget::{BudgetCall, BudgetReply};
use ff_backend::conformance::Harness;
use ff_backend::due::{Due, DuePage};
use ff_backend::frames::{Append, AppendError, Appended, FrameRange, Frames};
use ff_backend::hint::HintStream;
use ff_backend::load::{Load, Snapshot};
use ff_backend::memory::MemoryBackend;
use ff_backend::query::{Page, Query};
use ff_backend::quota::{QuotaCall, QuotaReply};
use ff_backend::reserve::{Reservation, Reserve};
use ff_backend::settings::{SettingsOp, SettingsReply};
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_backend::{Backend, Result};
use ff_core::partition::PartitionCounts;
use ff_core::time::{Duration, Timestamp};

/// Time that passes with every call.
const TICK: Duration = Duration::from_millis(1);

/// A memory store that takes liberties.
struct Free(MemoryBackend);

impl Free {
    fn ticked(&self) -> &MemoryBackend {
        self.0.advance(TICK);
        &self.0
    }
}

#[async_trait]
impl Backend for Free {
    async fn load(&self, loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        self.ticked().load(loads).await
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        self.ticked().commit(batch).await
    }

    async fn reserve(&self, ask: Reserve) -> Result<Reservation> {
        self.ticked().reserve(ask).await
    }

    async fn due(&self, ask: Due) -> Result<DuePage> {
        self.ticked().due(ask).await
    }

    async fn list(&self, query: Query) -> Result<Page> {
        let limit = query.limit.div_ceil(2);
        self.ticked().list(Query { limit, ..query }).await
    }

    async fn budget(&self, calls: Vec<BudgetCall>) -> Vec<Result<BudgetReply>> {
        self.ticked().budget(calls).await
    }

    async fn quota(&self, calls: Vec<QuotaCall>) -> Vec<Result<QuotaReply>> {
        self.ticked().quota(calls).await
    }

    async fn append(&self, batch: Vec<Append>) -> Vec<std::result::Result<Appended, AppendError>> {
        self.ticked().append(batch).await
    }

    async fn read(&self, range: FrameRange) -> Result<Frames> {
        self.ticked().read(range).await
    }

    async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        self.ticked().settings(ops).await
    }

    fn hints(&self) -> HintStream {
        self.0.hints()
    }

    async fn ping(&self) -> Result<Timestamp> {
        self.ticked().ping().await
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
