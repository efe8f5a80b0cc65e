//! A store that counts the calls made to it, for whoever measures.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use tokio::sync::watch;

use crate::due::{Due, DuePage};
use crate::hint::HintStream;
use crate::layer::Layer;
use crate::load::{Load, Snapshot};
use crate::query::{Page, Query};
use crate::reserve::{Reservation, Reserve};
use crate::transaction::{CommitError, Committed, Transaction};
use crate::{Backend, Result};

/// Passes every call on and counts it.
pub struct Counted {
    store: Arc<dyn Backend>,
    calls: AtomicU64,
    transactions: watch::Sender<u64>,
    /// `None` where nobody asked: weighing costs more than many a call.
    bytes: Option<AtomicU64>,
}

impl Counted {
    /// Counts the calls to `store`.
    pub fn new(store: Arc<dyn Backend>) -> Self {
        Self {
            store,
            calls: AtomicU64::new(0),
            transactions: watch::Sender::new(0),
            bytes: None,
        }
    }

    /// Counts the calls to `store`, and about how many bytes of records and rows they carry.
    pub fn weighing(store: Arc<dyn Backend>) -> Self {
        Self {
            bytes: Some(AtomicU64::new(0)),
            ..Self::new(store)
        }
    }

    /// Calls so far.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Transactions that were answered so far, however many a call had.
    pub fn transactions(&self) -> u64 {
        *self.transactions.borrow()
    }

    /// Completes when more than so many transactions were answered.
    pub async fn transactions_beyond(&self, count: u64) {
        // The sender is there as long as whoever asks.
        let _ = self
            .transactions
            .subscribe()
            .wait_for(|answered| *answered > count)
            .await;
    }

    /// About how many bytes of records and rows went to and fro; 0 if they are not weighed.
    pub fn bytes(&self) -> u64 {
        self.bytes.as_ref().map_or(0, |bytes| bytes.load(Ordering::Relaxed))
    }

    fn count(&self) -> &dyn Backend {
        self.calls.fetch_add(1, Ordering::Relaxed);
        &*self.store
    }

    /// The debug text stands in for what a real store would send: it grows as the records do.
    fn weigh(&self, what: &impl Debug) {
        if let Some(bytes) = &self.bytes {
            bytes.fetch_add(format!("{what:?}").len() as u64, Ordering::Relaxed);
        }
    }
}

#[async_trait]
impl Layer for Counted {
    fn inner(&self) -> &dyn Backend {
        self.count()
    }

    async fn load(&self, loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        let snapshots = self.count().load(loads).await;
        self.weigh(&snapshots);
        snapshots
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        self.weigh(&batch);
        let answers = self.count().commit(batch).await;
        self.transactions
            .send_modify(|answered| *answered += answers.len() as u64);
        answers
    }

    async fn reserve(&self, ask: Reserve) -> Result<Reservation> {
        let reservation = self.count().reserve(ask).await;
        self.weigh(&reservation);
        reservation
    }

    async fn due(&self, ask: Due) -> Result<DuePage> {
        let page = self.count().due(ask).await;
        self.weigh(&page);
        page
    }

    async fn list(&self, query: Query) -> Result<Page> {
        let page = self.count().list(query).await;
        self.weigh(&page);
        page
    }

    fn hints(&self) -> HintStream {
        self.store.hints()
    }
}
