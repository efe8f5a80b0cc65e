//! The backend as the engine uses it: callers that come together share calls, and every reply tells the time.

mod accounts;
mod batcher;
mod pages;
mod watched;

use std::sync::Arc;

use ff_backend::due::{Due, DuePage};
use ff_backend::frames::{Append, AppendError, Appended, FrameRange, Frames};
use ff_backend::hint::HintStream;
use ff_backend::ledger::LedgerReply;
use ff_backend::limits::Definitions;
use ff_backend::load::{Load, Snapshot};
use ff_backend::query::{Cursor, Listing, Page, Query, Rows};
use ff_backend::reserve::{Reservation, Reserve};
use ff_backend::settings::{SettingsOp, SettingsReply};
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_backend::{Backend, Error};
use ff_core::fabric::Result;
use ff_core::ledger::LedgerCall;
use ff_core::partition::{Partition, PartitionCounts};
use ff_core::time::Timestamp;
use futures::future::join_all;

use self::batcher::Batcher;
use self::watched::Watched;
use crate::clock::StoreClock;
use crate::fault::{internal, refusal};
use crate::host::Host;
use crate::metrics::StoreCalls;

/// Transactions, loads or calls of one kind in one batch. Small enough that answers come while the next batch is worked on:
/// a store and its callers would otherwise take turns.
const BATCH_MAX: usize = 64;

type Committing = std::result::Result<Committed, CommitError>;
type Appending = std::result::Result<Appended, AppendError>;

/// The backend, with batches and a clock.
pub(crate) struct Store {
    backend: Arc<dyn Backend>,
    host: Arc<dyn Host>,
    clock: StoreClock,
    loads: Arc<Batcher<Load, ff_backend::Result<Snapshot>>>,
    commits: Arc<Batcher<Transaction, Committing>>,
    appends: Arc<Batcher<Append, Appending>>,
    ledger: Arc<Batcher<Vec<LedgerCall>, Vec<ff_backend::Result<LedgerReply>>>>,
    definitions: Definitions,
}

impl Store {
    pub(crate) fn new(
        backend: Arc<dyn Backend>,
        host: Arc<dyn Host>,
        counts: PartitionCounts,
        calls: Arc<StoreCalls>,
    ) -> Self {
        let backend: Arc<dyn Backend> = Arc::new(Watched {
            backend,
            host: Arc::clone(&host),
            calls,
        });
        let loads = Arc::clone(&backend);
        let commits = Arc::clone(&backend);
        let appends = Arc::clone(&backend);
        let ledger = Arc::clone(&backend);
        Self {
            clock: StoreClock::new(counts),
            loads: Batcher::new(BATCH_MAX, move |batch| {
                let backend = Arc::clone(&loads);
                Box::pin(async move { load_all(&*backend, batch).await })
            }),
            commits: Batcher::new(BATCH_MAX, move |batch| {
                let backend = Arc::clone(&commits);
                Box::pin(async move { backend.commit(batch).await })
            }),
            appends: Batcher::new(BATCH_MAX, move |batch| {
                let backend = Arc::clone(&appends);
                Box::pin(async move { backend.append(batch).await })
            }),
            ledger: Batcher::new(BATCH_MAX, move |batch| {
                let backend = Arc::clone(&ledger);
                Box::pin(async move { accounts::ask_all(&*backend, batch).await })
            }),
            definitions: Definitions::default(),
            backend,
            host,
        }
    }

    /// The time of a partition as far as it is known without asking.
    pub(crate) fn now(&self, partition: Partition) -> Option<Timestamp> {
        self.clock.now(&*self.host, partition)
    }

    /// The latest time any flow partition is known to have.
    pub(crate) fn latest(&self) -> Option<Timestamp> {
        self.clock.latest(&*self.host)
    }

    fn saw(&self, partition: Partition, now: Timestamp) {
        self.clock.saw(&*self.host, partition, now);
    }

    /// Reads records, counters and blobs of one partition.
    pub(crate) async fn load(&self, load: Load) -> Result<Snapshot> {
        let partition = load.partition;
        let answer = self.loads.call(&*self.host, load).await;
        let snapshot = answer.unwrap_or_else(lost).map_err(|error| refusal(&error))?;
        self.saw(partition, snapshot.now);
        Ok(snapshot)
    }

    /// The same, or `None` when what is there cannot be read.
    pub(crate) async fn load_if_readable(&self, load: Load) -> Result<Option<Snapshot>> {
        match self.loads.call(&*self.host, load).await.unwrap_or_else(lost) {
            Ok(snapshot) => Ok(Some(snapshot)),
            Err(Error::Corrupt(_)) => Ok(None),
            Err(error) => Err(refusal(&error)),
        }
    }

    /// Commits one transaction.
    pub(crate) async fn commit(&self, transaction: Transaction) -> Committing {
        let partition = transaction.partition;
        let answer = self.commits.call(&*self.host, transaction).await;
        let answer = answer.unwrap_or_else(|| Err(CommitError::Store(gone())));
        match &answer {
            Ok(Committed { now, .. }) | Err(CommitError::TooLate { now }) => self.saw(partition, *now),
            Err(_) => {}
        }
        answer
    }

    /// Appends one frame.
    pub(crate) async fn append(&self, append: Append) -> Appending {
        let partition = append.execution_id.partition();
        let answer = self.appends.call(&*self.host, append).await;
        let answer = answer.unwrap_or_else(|| Err(AppendError::Store(gone())));
        if let Ok(appended) = &answer {
            self.saw(partition, appended.now);
        }
        answer
    }

    /// One page of a listing. What stands in a list that it does not belong to any more is not shown.
    pub(crate) async fn list(&self, of: impl Into<Listing>, after: Option<Cursor>, limit: usize) -> Result<Page> {
        let of = of.into();
        let range = match &of {
            Listing::Range(range) => Some(range.clone()),
            _ => None,
        };
        let page = self.backend.list(Query { of, after, limit }).await;
        let mut page = page.map_err(|error| refusal(&error))?;
        if let (Some(range), Rows::Records(rows)) = (range, &mut page.rows) {
            rows.retain(|(record, _)| range.holds(record));
        }
        Ok(page)
    }

    /// One page of a listing, with the store's own error.
    pub(crate) async fn try_list(&self, of: Listing, limit: usize) -> ff_backend::Result<Page> {
        self.backend.list(Query { of, after: None, limit }).await
    }

    /// Takes eligible executions.
    pub(crate) async fn reserve(&self, ask: Reserve) -> Result<Reservation> {
        let reservation = self.backend.reserve(ask).await.map_err(|error| refusal(&error))?;
        for task in &reservation.tasks {
            self.saw(task.execution.id.partition(), reservation.now);
        }
        Ok(reservation)
    }

    /// What is due.
    pub(crate) async fn due(&self, ask: Due) -> Result<DuePage> {
        let partitions = ask.partitions.clone();
        let page = self.backend.due(ask).await.map_err(|error| refusal(&error))?;
        for partition in partitions {
            self.saw(partition, page.now);
        }
        Ok(page)
    }

    /// Frames of a range.
    pub(crate) async fn read(&self, range: FrameRange) -> Result<Frames> {
        self.backend.read(range).await.map_err(|error| refusal(&error))
    }

    /// Settings, several operations in one call.
    pub(crate) async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        self.backend.settings(ops).await.map_err(|error| refusal(&error))
    }

    /// One operation on the settings.
    pub(crate) async fn setting(&self, op: SettingsOp) -> Result<SettingsReply> {
        let mut replies = self.settings(vec![op]).await?;
        replies
            .pop()
            .ok_or_else(|| internal("the store answered no settings operation"))
    }

    /// The store's time, asked for.
    pub(crate) async fn ping(&self) -> Result<Timestamp> {
        self.backend.ping().await.map_err(|error| refusal(&error))
    }

    /// Wake-ups from now on.
    pub(crate) fn hints(&self) -> HintStream {
        self.backend.hints()
    }
}

async fn load_all(backend: &dyn Backend, batch: Vec<Load>) -> Vec<ff_backend::Result<Snapshot>> {
    let size = batch.len();
    let several = (size > 1).then(|| batch.clone());
    match (backend.load(batch).await, several) {
        (Ok(snapshots), _) => snapshots.into_iter().map(Ok).collect(),
        // One of them cannot be read; the others only came at the same time.
        (Err(Error::Corrupt(_)), Some(batch)) => join_all(batch.into_iter().map(|load| load_one(backend, load))).await,
        (Err(error), _) => vec![Err(error); size],
    }
}

async fn load_one(backend: &dyn Backend, load: Load) -> ff_backend::Result<Snapshot> {
    let snapshot = backend.load(vec![load]).await?.pop();
    snapshot.ok_or_else(|| Error::Corrupt("the store answered no load".to_owned()))
}

fn lost<T>() -> ff_backend::Result<T> {
    Err(gone())
}

fn gone() -> Error {
    Error::Unknown("the process is shutting down".to_owned())
}
