//! A store that counts the calls made to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use ff_backend::budget::{BudgetCall, BudgetReply};
use ff_backend::due::{Due, DuePage};
use ff_backend::frames::{Append, AppendError, Appended, FrameRange, Frames};
use ff_backend::hint::HintStream;
use ff_backend::load::{Load, Snapshot};
use ff_backend::query::{Page, Query};
use ff_backend::quota::{QuotaCall, QuotaReply};
use ff_backend::reserve::{Handful, Reserve};
use ff_backend::settings::{SettingsOp, SettingsReply};
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_backend::{Backend, Result};
use ff_core::time::Timestamp;

/// Passes every call on and counts it.
pub(crate) struct Counted {
    store: Arc<dyn Backend>,
    calls: AtomicU64,
}

impl Counted {
    pub(crate) fn new(store: Arc<dyn Backend>) -> Self {
        Self {
            store,
            calls: AtomicU64::new(0),
        }
    }

    /// Calls so far.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    fn count(&self) -> &dyn Backend {
        self.calls.fetch_add(1, Ordering::Relaxed);
        &*self.store
    }
}

#[async_trait]
impl Backend for Counted {
    async fn load(&self, loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        self.count().load(loads).await
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        self.count().commit(batch).await
    }

    async fn reserve(&self, ask: Reserve) -> Result<Handful> {
        self.count().reserve(ask).await
    }

    async fn due(&self, ask: Due) -> Result<DuePage> {
        self.count().due(ask).await
    }

    async fn list(&self, query: Query) -> Result<Page> {
        self.count().list(query).await
    }

    async fn budget(&self, calls: Vec<BudgetCall>) -> Vec<Result<BudgetReply>> {
        self.count().budget(calls).await
    }

    async fn quota(&self, calls: Vec<QuotaCall>) -> Vec<Result<QuotaReply>> {
        self.count().quota(calls).await
    }

    async fn append(&self, batch: Vec<Append>) -> Vec<std::result::Result<Appended, AppendError>> {
        self.count().append(batch).await
    }

    async fn read(&self, range: FrameRange) -> Result<Frames> {
        self.count().read(range).await
    }

    async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        self.count().settings(ops).await
    }

    fn hints(&self) -> HintStream {
        self.store.hints()
    }

    async fn ping(&self) -> Result<Timestamp> {
        self.count().ping().await
    }
}
