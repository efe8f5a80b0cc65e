//! The store as a [`Backend`].

use std::sync::Arc;

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
use ff_backend::{Backend, Error, Result};
use ff_core::ledger::LedgerCall;
use ff_core::time::{Duration, Timestamp};

use crate::database::Database;
use crate::error::{OpenError, with_file};
use crate::lock::Lock;
use crate::open::open;
use crate::options::Options;
use crate::reader::Readers;
use crate::shared::{Shared, WriterStats};
use crate::writer::Writer;
use crate::{due, frames, ledger, list, load, migrate, settings};

/// One SQLite file. Dropping it waits for what is under way and closes the file.
#[derive(Debug)]
pub struct SqliteBackend {
    // In this order: the writer closes last, because only it can move the log into the database, and then the lock is let go.
    pub(crate) readers: Readers,
    pub(crate) writer: Writer,
    pub(crate) shared: Arc<Shared>,
    pub(crate) _lock: Lock,
}

impl SqliteBackend {
    /// Opens the store, creating it when it is not there.
    pub fn open(options: &Options) -> std::result::Result<Self, OpenError> {
        open(options).map_err(with_file(&options.path))
    }

    /// What it is, in a few words for a log.
    pub fn about(&self) -> String {
        format!("SQLite {}, schema {}", rusqlite::version(), migrate::VERSION)
    }

    /// How much was written since the store was opened.
    pub fn stats(&self) -> WriterStats {
        *self.shared.stats()
    }

    /// Moves the store's clock forward. Only tests have a reason to.
    pub fn advance_clock(&self, by: Duration) {
        self.shared.clock.advance(by);
    }

    /// Runs `work` on a reader's connection, with the store's time.
    async fn read_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Database<'_>, Timestamp) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        let shared = Arc::clone(&self.shared);
        self.readers
            .read(move |database| work(database, shared.clock.now()))
            .await
    }
}

#[async_trait]
impl Backend for SqliteBackend {
    async fn load(&self, loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        self.read_store(move |database, now| loads.iter().map(|ask| load::snapshot(database, ask, now)).collect())
            .await
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        let count = batch.len();
        let written = self
            .writer
            .write(move |open| batch.iter().map(|transaction| open.commit(transaction)).collect());
        written
            .await
            .unwrap_or_else(|error| vec![Err(CommitError::Store(error)); count])
    }

    async fn reserve(&self, ask: Reserve) -> Result<Reservation> {
        self.writer.write(move |batch| batch.reserve(&ask)).await
    }

    async fn due(&self, ask: Due) -> Result<DuePage> {
        self.read_store(move |database, now| due::page(database, &ask, now))
            .await
    }

    async fn list(&self, query: Query) -> Result<Page> {
        let shared = Arc::clone(&self.shared);
        self.read_store(move |database, now| list::page(database, &shared, now, &query))
            .await?
    }

    async fn ledger(&self, calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>> {
        let (count, counts) = (calls.len(), self.shared.options.counts);
        // Reading alone does not wait for the writer.
        let replies = if calls.iter().all(ledger::is_read) {
            self.read_store(move |database, now| ledger::read(database, &calls, (now, counts)))
                .await
        } else {
            self.writer.write(move |batch| batch.ledger(&calls)).await
        };
        replies.unwrap_or_else(|error| vec![Err(error); count])
    }

    async fn append(&self, batch: Vec<Append>) -> Vec<std::result::Result<Appended, AppendError>> {
        let count = batch.len();
        let written = self.writer.write(move |open| open.append_all(&batch)).await;
        written.unwrap_or_else(|error| vec![Err(AppendError::Store(error)); count])
    }

    async fn read(&self, range: FrameRange) -> Result<Frames> {
        self.read_store(move |database, now| frames::read(database, &range, now))
            .await
    }

    async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        // Reading alone does not wait for the writer.
        if ops.iter().any(|op| matches!(op, SettingsOp::Put { .. })) {
            let written = self
                .writer
                .write(move |batch| ops.into_iter().map(|op| batch.setting(op)).collect());
            return written.await;
        }
        self.read_store(move |database, now| ops.iter().map(|op| settings::read(database, op, now)).collect())
            .await
    }

    fn hints(&self) -> HintStream {
        self.shared.hints().subscribe()
    }

    async fn ping(&self) -> Result<Timestamp> {
        // A store that only reads is of no use: whoever asks whether it is there should restart it.
        if let Some(why) = self.shared.stopped.get() {
            return Err(Error::Unavailable(why.clone()));
        }
        self.read_store(|_, now| Ok(now)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Batch;

    #[tokio::test]
    async fn a_store_that_has_stopped_writing_is_not_there() {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteBackend::open(&Options::new(directory.path().join("store.db"))).unwrap();
        store.ping().await.unwrap();
        let ends_it = |batch: &mut Batch<'_>| batch.database.connection.execute_batch("COMMIT");
        let lost = store.writer.write(ends_it).await;
        assert!(
            matches!(lost, Err(Error::Unknown(_))),
            "nothing is left to commit: {lost:?}"
        );
        let told = store.ping().await;
        assert!(matches!(told, Err(Error::Unavailable(_))), "{told:?}");
    }
}
