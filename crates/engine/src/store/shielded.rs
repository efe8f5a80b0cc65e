//! A backend whose panics cost nothing but the call: whoever made it is told that its outcome is unknown, and whoever shares
//! the task that made it goes on.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use ff_backend::budget::{BudgetCall, BudgetReply};
use ff_backend::due::{Due, DuePage};
use ff_backend::frames::{Append, AppendError, Appended, FrameRange, Frames};
use ff_backend::hint::HintStream;
use ff_backend::load::{Load, Snapshot};
use ff_backend::query::{Page, Query};
use ff_backend::quota::{QuotaCall, QuotaReply};
use ff_backend::reserve::{Reservation, Reserve};
use ff_backend::settings::{SettingsOp, SettingsReply};
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_backend::{Backend, Error, Result};
use ff_core::time::Timestamp;
use futures::FutureExt;

/// A backend behind a shield.
pub(super) struct Shielded(pub(super) Arc<dyn Backend>);

/// What came of a call. What it may have left half done inside the backend is the backend's to bear: nothing of it is kept here.
async fn answered<T>(call: impl Future<Output = T>) -> Result<T> {
    let answer = AssertUnwindSafe(call).catch_unwind().await;
    answer.map_err(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("of an unknown kind");
        tracing::error!(panic = text, "a call to the store panicked");
        Error::Unknown(format!("the call panicked: {text}"))
    })
}

/// What came of a call that answers each of its `count` parts.
async fn each<T>(count: usize, call: impl Future<Output = Vec<T>>, failed: impl Fn(Error) -> T) -> Vec<T> {
    match answered(call).await {
        Ok(answers) => answers,
        Err(error) => (0..count).map(|_| failed(error.clone())).collect(),
    }
}

#[async_trait]
impl Backend for Shielded {
    async fn load(&self, loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        answered(self.0.load(loads)).await?
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        let failed = |error| Err(CommitError::Store(error));
        each(batch.len(), self.0.commit(batch), failed).await
    }

    async fn reserve(&self, ask: Reserve) -> Result<Reservation> {
        answered(self.0.reserve(ask)).await?
    }

    async fn due(&self, ask: Due) -> Result<DuePage> {
        answered(self.0.due(ask)).await?
    }

    async fn list(&self, query: Query) -> Result<Page> {
        answered(self.0.list(query)).await?
    }

    async fn budget(&self, calls: Vec<BudgetCall>) -> Vec<Result<BudgetReply>> {
        each(calls.len(), self.0.budget(calls), Err).await
    }

    async fn quota(&self, calls: Vec<QuotaCall>) -> Vec<Result<QuotaReply>> {
        each(calls.len(), self.0.quota(calls), Err).await
    }

    async fn append(&self, batch: Vec<Append>) -> Vec<std::result::Result<Appended, AppendError>> {
        let failed = |error| Err(AppendError::Store(error));
        each(batch.len(), self.0.append(batch), failed).await
    }

    async fn read(&self, range: FrameRange) -> Result<Frames> {
        answered(self.0.read(range)).await?
    }

    async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        answered(self.0.settings(ops)).await?
    }

    fn hints(&self) -> HintStream {
        self.0.hints()
    }

    async fn ping(&self) -> Result<Timestamp> {
        answered(self.0.ping()).await?
    }
}
