//! The store as a [`Backend`].

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use ff_backend::due::{Due, DuePage};
use ff_backend::frames::{Append, AppendError, Appended, FrameRange, Frames};
use ff_backend::hint::HintStream;
use ff_backend::ledger::LedgerReply;
use ff_backend::load::{Load, Snapshot};
use ff_backend::query::{Page, Query};
use ff_backend::reserve::{Reservation, Reserve};
use ff_backend::settings::{SettingsOp, SettingsReply};
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_backend::{Backend, Result};
use ff_core::ledger::LedgerCall;
use ff_core::time::{Duration, Timestamp};

use crate::call::call;
use crate::error::OpenError;
use crate::open::{about, open};
use crate::options::Options;
use crate::shared::Shared;

/// A PostgreSQL database. Cheap to clone; every clone shares the connections.
#[derive(Clone)]
pub struct PostgresBackend {
    shared: Arc<Shared>,
}

impl PostgresBackend {
    /// Connects, checks that the server can be used, and brings the schema up to date.
    pub async fn open(options: &Options) -> std::result::Result<Self, OpenError> {
        Ok(Self {
            shared: open(options).await?,
        })
    }

    /// What it is, in a few words for a log.
    pub async fn about(&self) -> Result<String> {
        about(&self.shared).await
    }

    /// How many entries of queues were looked at to hand something out since the store was opened.
    pub fn entries_visited(&self) -> u64 {
        self.shared.visited.load(Ordering::Relaxed)
    }

    /// Moves the clock that this process asks the store to use. Only tests have a reason to.
    pub fn advance_clock(&self, by: Duration) {
        self.shared.advance_clock(by);
    }
}

impl std::fmt::Debug for PostgresBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresBackend").finish_non_exhaustive()
    }
}

impl Shared {
    /// The store's time; proves that it answers.
    pub(crate) async fn ping(&self) -> Result<Timestamp> {
        Ok(self.ask(call!(reading ping())).await?.0)
    }
}

#[async_trait]
impl Backend for PostgresBackend {
    async fn load(&self, loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        self.shared.load(loads).await
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        self.shared.commit(batch).await
    }

    async fn reserve(&self, ask: Reserve) -> Result<Reservation> {
        self.shared.reserve(ask).await
    }

    async fn due(&self, ask: Due) -> Result<DuePage> {
        self.shared.due(ask).await
    }

    async fn list(&self, query: Query) -> Result<Page> {
        self.shared.list(query).await
    }

    async fn ledger(&self, calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>> {
        self.shared.ledger(calls).await
    }

    async fn append(&self, batch: Vec<Append>) -> Vec<std::result::Result<Appended, AppendError>> {
        self.shared.append(batch).await
    }

    async fn read(&self, range: FrameRange) -> Result<Frames> {
        self.shared.read(range).await
    }

    async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        self.shared.settings(ops).await
    }

    fn hints(&self) -> HintStream {
        self.shared.hints().subscribe()
    }

    async fn ping(&self) -> Result<Timestamp> {
        self.shared.ping().await
    }
}
