//! The backend as the engine uses it: callers that come together share calls, and every reply tells the time.

mod batcher;
mod measured;
mod pages;
mod shielded;

use std::sync::Arc;

use ff_backend::budget::{BudgetAnswer, BudgetCall, BudgetReply};
use ff_backend::due::{Due, DuePage};
use ff_backend::frames::{Append, AppendError, Appended, FrameRange, Frames};
use ff_backend::hint::HintStream;
use ff_backend::load::{Load, Snapshot};
use ff_backend::query::{Cursor, Listing, Page, Query};
use ff_backend::quota::{QuotaAnswer, QuotaCall, QuotaReply};
use ff_backend::reserve::{Reservation, Reserve};
use ff_backend::settings::{SettingsOp, SettingsReply};
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_backend::{Backend, Error};
use ff_core::fabric::Result;
use ff_core::partition::{Partition, PartitionCounts};
use ff_core::time::Timestamp;
use futures::future::join_all;

use self::batcher::Batcher;
use self::measured::Measured;
use self::shielded::Shielded;
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
    budgets: Arc<Batcher<Vec<BudgetCall>, Vec<ff_backend::Result<BudgetReply>>>>,
    quotas: Arc<Batcher<QuotaCall, ff_backend::Result<QuotaReply>>>,
}

impl Store {
    pub(crate) fn new(
        backend: Arc<dyn Backend>,
        host: Arc<dyn Host>,
        counts: PartitionCounts,
        calls: Arc<StoreCalls>,
    ) -> Self {
        let backend: Arc<dyn Backend> = Arc::new(Measured {
            backend: Shielded(backend),
            host: Arc::clone(&host),
            calls,
        });
        let loads = Arc::clone(&backend);
        let commits = Arc::clone(&backend);
        let appends = Arc::clone(&backend);
        let budgets = Arc::clone(&backend);
        let quotas = Arc::clone(&backend);
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
            budgets: Batcher::new(BATCH_MAX, move |batch| {
                let backend = Arc::clone(&budgets);
                Box::pin(async move { budget_all(&*backend, batch).await })
            }),
            quotas: Batcher::new(BATCH_MAX, move |batch| {
                let backend = Arc::clone(&quotas);
                Box::pin(async move { backend.quota(batch).await })
            }),
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

    /// One budget call. The outer refusal is the store's, the inner one the budget's.
    pub(crate) async fn budget(&self, call: BudgetCall) -> Result<(Timestamp, Result<BudgetAnswer>)> {
        let reply = self.budget_in_turn(vec![call]).await.pop().unwrap_or_else(lost);
        let reply = reply.map_err(|error| refusal(&error))?;
        Ok((reply.now, reply.answer))
    }

    /// Budget calls in one go, each answered after those before it.
    pub(crate) async fn budget_in_turn(&self, calls: Vec<BudgetCall>) -> Vec<ff_backend::Result<BudgetReply>> {
        let count = calls.len();
        let answers = self.budgets.call(&*self.host, calls).await;
        answers.unwrap_or_else(|| (0..count).map(|_| lost()).collect())
    }

    /// One quota call. The outer refusal is the store's, the inner one the policy's.
    pub(crate) async fn quota(&self, call: QuotaCall) -> Result<(Timestamp, Result<QuotaAnswer>)> {
        let answer = self.quotas.call(&*self.host, call).await;
        let reply = answer.unwrap_or_else(lost).map_err(|error| refusal(&error))?;
        Ok((reply.now, reply.answer))
    }

    /// One page of a listing.
    pub(crate) async fn list(&self, of: Listing, after: Option<Cursor>, limit: usize) -> Result<Page> {
        let page = self.backend.list(Query { of, after, limit }).await;
        page.map_err(|error| refusal(&error))
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

/// The calls of all callers, whose replies go back to each.
async fn budget_all(backend: &dyn Backend, batch: Vec<Vec<BudgetCall>>) -> Vec<Vec<ff_backend::Result<BudgetReply>>> {
    let counts: Vec<usize> = batch.iter().map(Vec::len).collect();
    let mut replies = backend.budget(batch.into_iter().flatten().collect()).await.into_iter();
    let own = |count| replies.by_ref().take(count).collect();
    counts.into_iter().map(own).collect()
}

fn lost<T>() -> ff_backend::Result<T> {
    Err(gone())
}

fn gone() -> Error {
    Error::Unknown("the process is shutting down".to_owned())
}
