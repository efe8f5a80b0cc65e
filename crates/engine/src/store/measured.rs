//! A backend whose calls are measured, once for everybody.

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

use crate::host::Host;
use crate::metrics::{StoreCall, StoreCalls};

/// A backend and what is known of its calls.
pub(super) struct Measured<B> {
    pub(super) backend: B,
    pub(super) host: Arc<dyn Host>,
    pub(super) calls: Arc<StoreCalls>,
}

impl<B> Measured<B> {
    /// A call that succeeds or fails as a whole.
    async fn whole<T>(&self, call: StoreCall, answer: impl Future<Output = Result<T>>) -> Result<T> {
        let answer = self.timed(call, answer).await;
        answer.inspect_err(|error| self.calls.failed(call, error))
    }

    /// A call whose parts succeed or fail alone; `note` counts what went wrong with one.
    async fn parts<T, E>(
        &self,
        call: StoreCall,
        answers: impl Future<Output = Vec<std::result::Result<T, E>>>,
        note: impl Fn(&E),
    ) -> Vec<std::result::Result<T, E>> {
        let answers = self.timed(call, answers).await;
        answers.iter().filter_map(|answer| answer.as_ref().err()).for_each(note);
        answers
    }

    async fn timed<T>(&self, call: StoreCall, answer: impl Future<Output = T>) -> T {
        let began = self.host.elapsed();
        let answer = answer.await;
        self.calls.answered(call, self.host.elapsed().saturating_sub(began));
        answer
    }
}

#[async_trait]
impl<B: Backend> Backend for Measured<B> {
    async fn load(&self, loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        self.whole(StoreCall::Load, self.backend.load(loads)).await
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        let note = |error: &CommitError| self.calls.not_committed(error);
        self.parts(StoreCall::Commit, self.backend.commit(batch), note).await
    }

    async fn reserve(&self, ask: Reserve) -> Result<Reservation> {
        self.whole(StoreCall::Reserve, self.backend.reserve(ask)).await
    }

    async fn due(&self, ask: Due) -> Result<DuePage> {
        self.whole(StoreCall::Due, self.backend.due(ask)).await
    }

    async fn list(&self, query: Query) -> Result<Page> {
        self.whole(StoreCall::List, self.backend.list(query)).await
    }

    async fn budget(&self, calls: Vec<BudgetCall>) -> Vec<Result<BudgetReply>> {
        let note = |error: &Error| self.calls.failed(StoreCall::Budget, error);
        self.parts(StoreCall::Budget, self.backend.budget(calls), note).await
    }

    async fn quota(&self, calls: Vec<QuotaCall>) -> Vec<Result<QuotaReply>> {
        let note = |error: &Error| self.calls.failed(StoreCall::Quota, error);
        self.parts(StoreCall::Quota, self.backend.quota(calls), note).await
    }

    async fn append(&self, batch: Vec<Append>) -> Vec<std::result::Result<Appended, AppendError>> {
        let note = |error: &AppendError| {
            if let AppendError::Store(error) = error {
                self.calls.failed(StoreCall::Append, error);
            }
        };
        self.parts(StoreCall::Append, self.backend.append(batch), note).await
    }

    async fn read(&self, range: FrameRange) -> Result<Frames> {
        self.whole(StoreCall::Read, self.backend.read(range)).await
    }

    async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        self.whole(StoreCall::Settings, self.backend.settings(ops)).await
    }

    fn hints(&self) -> HintStream {
        self.backend.hints()
    }

    async fn ping(&self) -> Result<Timestamp> {
        self.whole(StoreCall::Ping, self.backend.ping()).await
    }
}
