//! A backend whose calls are measured, and whose panics cost nothing but the call: whoever made it is told that its outcome is
//! unknown, and whoever shares the task that made it goes on.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use ff_backend::due::{Due, DuePage};
use ff_backend::frames::{Append, AppendError, Appended, FrameRange, Frames};
use ff_backend::layer::Layer;
use ff_backend::ledger::LedgerReply;
use ff_backend::load::{Load, Snapshot};
use ff_backend::query::{Page, Query};
use ff_backend::reserve::{Reservation, Reserve};
use ff_backend::settings::{SettingsOp, SettingsReply};
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_backend::{Backend, Error, Result};
use ff_core::ledger::LedgerCall;
use ff_core::time::Timestamp;
use futures::FutureExt;

use crate::host::Host;
use crate::metrics::{StoreCall, StoreCalls};

/// A backend and what is known of its calls.
pub(super) struct Watched {
    pub(super) backend: Arc<dyn Backend>,
    pub(super) host: Arc<dyn Host>,
    pub(super) calls: Arc<StoreCalls>,
}

impl Watched {
    /// A call that succeeds or fails as a whole.
    async fn whole<T>(&self, call: StoreCall, answer: impl Future<Output = Result<T>>) -> Result<T> {
        let answer = self.timed(call, answer).await.flatten();
        answer.inspect_err(|error| self.calls.failed(call, error))
    }

    /// A call whose `count` parts succeed or fail alone; `note` counts what went wrong with one.
    async fn parts<T, E: From<Error>>(
        &self,
        call: StoreCall,
        count: usize,
        answers: impl Future<Output = Vec<std::result::Result<T, E>>>,
        note: impl Fn(&E),
    ) -> Vec<std::result::Result<T, E>> {
        let answers = match self.timed(call, answers).await {
            Ok(answers) => answers,
            Err(error) => (0..count).map(|_| Err(error.clone().into())).collect(),
        };
        answers.iter().filter_map(|answer| answer.as_ref().err()).for_each(note);
        answers
    }

    async fn timed<T>(&self, call: StoreCall, answer: impl Future<Output = T>) -> Result<T> {
        let began = self.host.elapsed();
        let answer = answered(answer).await;
        self.calls.answered(call, self.host.elapsed().saturating_sub(began));
        answer
    }
}

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

#[async_trait]
impl Layer for Watched {
    fn inner(&self) -> &dyn Backend {
        &*self.backend
    }

    async fn load(&self, loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        self.whole(StoreCall::Load, self.backend.load(loads)).await
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        let note = |error: &CommitError| self.calls.not_committed(error);
        self.parts(StoreCall::Commit, batch.len(), self.backend.commit(batch), note)
            .await
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

    async fn ledger(&self, calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>> {
        let note = |error: &Error| self.calls.failed(StoreCall::Ledger, error);
        self.parts(StoreCall::Ledger, calls.len(), self.backend.ledger(calls), note)
            .await
    }

    async fn append(&self, batch: Vec<Append>) -> Vec<std::result::Result<Appended, AppendError>> {
        let note = |error: &AppendError| {
            if let AppendError::Store(error) = error {
                self.calls.failed(StoreCall::Append, error);
            }
        };
        self.parts(StoreCall::Append, batch.len(), self.backend.append(batch), note)
            .await
    }

    async fn read(&self, range: FrameRange) -> Result<Frames> {
        self.whole(StoreCall::Read, self.backend.read(range)).await
    }

    async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        self.whole(StoreCall::Settings, self.backend.settings(ops)).await
    }

    async fn ping(&self) -> Result<Timestamp> {
        self.whole(StoreCall::Ping, self.backend.ping()).await
    }
}
