//! A store whose commits go wrong when they are told to.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use ff_backend::layer::Layer;
use ff_backend::memory::MemoryBackend;
use ff_backend::query::{Listing, Page, Query};
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_backend::{Backend, Error, Result};
use ff_core::machine::index::Index;
use ff_core::record::RecordKey;

/// What becomes of one commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Lands,
    /// Nothing is done.
    Fails,
    /// It lands, but nobody is told.
    ReplyLost,
    /// It does not land, and nobody is told that either.
    RequestLost,
    /// Nobody is ever told anything.
    Stalls,
}

/// The memory backend behind a bad line.
pub(crate) struct Shaky {
    inner: Arc<MemoryBackend>,
    fates: Mutex<VecDeque<Fate>>,
    failover: Mutex<Option<Failover>>,
    delayed: Mutex<Option<Delayed>>,
    listed_elsewhere: Mutex<Option<MemoryBackend>>,
}

/// A failover that waits for its moment.
struct Failover {
    kept: MemoryBackend,
    before_writing: RecordKey,
}

/// A transaction that is still under way when its sender has given it up.
enum Delayed {
    Expected { clears: RecordKey },
    Sent(Box<Transaction>),
}

impl Shaky {
    pub(crate) fn new(inner: Arc<MemoryBackend>) -> Self {
        Self {
            inner,
            fates: Mutex::default(),
            failover: Mutex::default(),
            delayed: Mutex::default(),
            listed_elsewhere: Mutex::default(),
        }
    }

    /// The fates of the next transactions; those after them land.
    pub(crate) fn expect(&self, fates: impl IntoIterator<Item = Fate>) {
        *self.fates.lock().unwrap() = fates.into_iter().collect();
    }

    /// The store goes back to what it is now, just before the next transaction that writes this record reaches it.
    pub(crate) fn fail_over_before_writing(&self, record: RecordKey) {
        *self.failover.lock().unwrap() = Some(Failover {
            kept: self.inner.fork(),
            before_writing: record,
        });
    }

    /// The next edges that are listed are those of `other`: what the store had come to between two reads.
    pub(crate) fn list_edges_of(&self, other: MemoryBackend) {
        *self.listed_elsewhere.lock().unwrap() = Some(other);
    }

    /// The next transaction that answers a nudge of this record is under way until it is delivered.
    pub(crate) fn delay_answering(&self, record: RecordKey) {
        *self.delayed.lock().unwrap() = Some(Delayed::Expected { clears: record });
    }

    /// What was under way arrives.
    pub(crate) async fn deliver_delayed(&self) -> std::result::Result<Committed, CommitError> {
        let delayed = self.delayed.lock().unwrap().take();
        let Some(Delayed::Sent(transaction)) = delayed else {
            panic!("nothing is under way");
        };
        self.inner.commit(vec![*transaction]).await.remove(0)
    }

    fn fail_over_if_it_is_time(&self, transaction: &Transaction) {
        let mut failover = self.failover.lock().unwrap();
        let is_time = |failover: &Failover| {
            let mut written = transaction.puts.iter().map(|put| put.record.key());
            written.any(|key| key == failover.before_writing)
        };
        if let Some(failover) = failover.take_if(|failover| is_time(failover)) {
            self.inner.restore(&failover.kept);
        }
    }

    fn is_delayed(&self, transaction: &Transaction) -> bool {
        let mut delayed = self.delayed.lock().unwrap();
        let Some(Delayed::Expected { clears }) = &*delayed else {
            return false;
        };
        let meant = transaction.clear_nudges.iter().any(|(key, _)| key == clears);
        if meant {
            *delayed = Some(Delayed::Sent(Box::new(transaction.clone())));
        }
        meant
    }

    async fn commit_one(&self, transaction: Transaction) -> std::result::Result<Committed, CommitError> {
        let fate = self.fates.lock().unwrap().pop_front().unwrap_or(Fate::Lands);
        let lost = || CommitError::Store(Error::Unknown("lost".to_owned()));
        if self.is_delayed(&transaction) {
            return Err(lost());
        }
        self.fail_over_if_it_is_time(&transaction);
        match fate {
            Fate::Fails => return Err(CommitError::Store(Error::Unavailable("down".to_owned()))),
            Fate::RequestLost => return Err(lost()),
            Fate::Stalls => std::future::pending().await,
            Fate::Lands | Fate::ReplyLost => {}
        }
        let mut answers = self.inner.commit(vec![transaction]).await;
        let answer = answers.pop().expect("one answer for one transaction");
        if fate == Fate::ReplyLost { Err(lost()) } else { answer }
    }
}

#[async_trait]
impl Layer for Shaky {
    fn inner(&self) -> &dyn Backend {
        &*self.inner
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        let mut answers = Vec::new();
        for transaction in batch {
            answers.push(self.commit_one(transaction).await);
        }
        answers
    }

    async fn list(&self, query: Query) -> Result<Page> {
        let is_meant = matches!(&query.of, Listing::Range(range) if matches!(range.of[..], [Index::EdgesFrom(_), ..]));
        let elsewhere = self.listed_elsewhere.lock().unwrap().take_if(|_| is_meant);
        match elsewhere {
            Some(other) => other.list(query).await,
            None => self.inner.list(query).await,
        }
    }
}
