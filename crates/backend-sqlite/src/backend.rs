//! The store as a [`Backend`].

use std::path::Path;
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
use ff_backend::{Backend, Result};
use ff_core::time::{Duration, Timestamp};

use crate::batch::{Batch, WriterState};
use crate::checkpoint::Checkpointer;
use crate::clock::Clock;
use crate::error::OpenError;
use crate::lock::Lock;
use crate::open::{open, refused};
use crate::options::Options;
use crate::queues::Queues;
use crate::reader::Readers;
use crate::shared::{Shared, WriterStats};
use crate::writer::Writer;
use crate::{due, load, migrate};

/// One SQLite file. Dropping it waits for what is under way and closes the file.
#[derive(Debug)]
pub struct SqliteBackend {
    // In this order: the writer closes last, because only it can move the log into the database, and then the lock is let go.
    readers: Readers,
    writer: Writer,
    shared: Arc<Shared>,
    _lock: Lock,
}

impl SqliteBackend {
    /// Opens the store, creating it when it is not there.
    pub fn open(options: &Options) -> std::result::Result<Self, OpenError> {
        let opened = open(options)?;
        let queues = Queues::load(&opened.writer).map_err(|source| refused(&options.path, source))?;
        let clock = Clock::start(opened.clock);
        if let Some(ahead) = clock.ahead() {
            let path = options.path.display();
            tracing::warn!(%path, %ahead, "the store's last time is ahead of this machine's clock: set the clock right, or wait");
        }
        let shared = Arc::new(Shared::new(clock, queues, options));
        let failed = |source| OpenError::File {
            path: options.path.clone(),
            source,
        };
        let state = WriterState::load(&opened.writer).map_err(|source| refused(&options.path, source))?;
        let checkpointer = Checkpointer::start(opened.checkpointer).map_err(failed)?;
        Ok(Self {
            writer: Writer::start(opened.writer, checkpointer, Arc::clone(&shared), state).map_err(failed)?,
            readers: Readers::start(opened.readers).map_err(failed)?,
            shared,
            _lock: opened.lock,
        })
    }

    /// What it is, in a few words for a log.
    pub fn about(&self) -> String {
        format!("SQLite {}, schema {}", rusqlite::version(), migrate::version())
    }

    /// The database file.
    pub(crate) fn path(&self) -> &Path {
        &self.shared.path
    }

    /// How much was written since the store was opened.
    pub fn stats(&self) -> WriterStats {
        self.shared.stats()
    }

    /// Moves the store's clock forward. Only tests have a reason to.
    pub fn advance_clock(&self, by: Duration) {
        self.shared.clock.advance(by);
    }

    /// What the writer, the readers and the callers share.
    pub(crate) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// Runs `work` in the writer's next batch.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Batch<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        self.writer.write(work).await
    }

    /// Runs `work` on a reader's connection, with the store's time.
    pub(crate) async fn read_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&rusqlite::Connection, Timestamp) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        let shared = Arc::clone(&self.shared);
        self.readers
            .read(move |connection| work(connection, shared.clock.now()))
            .await
    }
}

#[async_trait]
impl Backend for SqliteBackend {
    async fn load(&self, loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        self.read_store(move |connection, now| loads.iter().map(|ask| load::snapshot(connection, ask, now)).collect())
            .await
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        let count = batch.len();
        let written = self
            .write(move |open| batch.iter().map(|transaction| open.commit(transaction)).collect())
            .await;
        written.unwrap_or_else(|error| vec![Err(CommitError::Store(error)); count])
    }

    async fn reserve(&self, ask: Reserve) -> Result<Reservation> {
        self.write(move |batch| batch.reserve(&ask)).await
    }

    async fn due(&self, ask: Due) -> Result<DuePage> {
        self.read_store(move |connection, now| due::page(connection, &ask, now))
            .await
    }

    async fn list(&self, query: Query) -> Result<Page> {
        self.list_page(query).await
    }

    async fn budget(&self, calls: Vec<BudgetCall>) -> Vec<Result<BudgetReply>> {
        self.budget_calls(calls).await
    }

    async fn quota(&self, calls: Vec<QuotaCall>) -> Vec<Result<QuotaReply>> {
        self.quota_calls(calls).await
    }

    async fn append(&self, batch: Vec<Append>) -> Vec<std::result::Result<Appended, AppendError>> {
        self.append_frames(batch).await
    }

    async fn read(&self, range: FrameRange) -> Result<Frames> {
        self.read_frames(range).await
    }

    async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        self.settings_ops(ops).await
    }

    fn hints(&self) -> HintStream {
        self.shared.hints().subscribe()
    }

    async fn ping(&self) -> Result<Timestamp> {
        self.read_store(|_, now| Ok(now)).await
    }
}
