//! The reference backend: `BTreeMap`s behind one lock.
//!
//! It has no clock and no luck of its own: time stands still until [`MemoryBackend::advance`] moves it, and the same calls
//! give the same answers. The simulation runs on it, and other backends are compared with it.
//!
//! | file | what |
//! |---|---|
//! | `store` | everything that is kept, and the lookups the others share |
//! | `commit` | transactions: compare, refuse, apply |
//! | `index` | a record is written together with its index entries, and only here |
//! | `queues`, `agenda`, `lists`, `depths` | the indexes: what is eligible, what is due, what is listed, how many there are |
//! | `load`, `reserve`, `due`, `list` | the questions |
//! | `feed`, `frames`, `settings`, `ledger` | what is kept beside records |

mod agenda;
mod commit;
mod depths;
mod due;
mod feed;
mod frames;
mod groups;
mod index;
mod ledger;
mod list;
mod lists;
mod load;
mod queues;
mod reserve;
mod settings;
mod store;

use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use ff_core::ledger::LedgerCall;
use ff_core::partition::PartitionCounts;
use ff_core::time::{Duration, Timestamp};

use self::store::Store;
use crate::due::{Due, DuePage};
use crate::frames::{Append, AppendError, Appended, FrameRange, Frames};
use crate::hint::HintStream;
use crate::ledger::LedgerReply;
use crate::load::{Load, Snapshot};
use crate::query::{Page, Query};
use crate::reserve::{Reservation, Reserve};
use crate::settings::{SettingsOp, SettingsReply};
use crate::transaction::{CommitError, Committed, Transaction};
use crate::{Backend, Result};

/// A store in memory, with a clock that moves only when told to.
pub struct MemoryBackend {
    store: Mutex<Store>,
}

impl MemoryBackend {
    /// An empty store whose clock stands at `start`.
    pub fn new(start: Timestamp, counts: PartitionCounts) -> Self {
        Self {
            store: Mutex::new(Store::new(start, counts)),
        }
    }

    /// The same store with a feed that keeps at most `lines` per partition.
    #[must_use]
    pub fn with_feed_lines_max(self, lines: usize) -> Self {
        self.lock().feed_lines_max = lines;
        self
    }

    /// A store of its own with the same contents, settings and time. Nobody listens to its hints yet.
    #[must_use]
    pub fn fork(&self) -> MemoryBackend {
        Self {
            store: Mutex::new(self.lock().clone()),
        }
    }

    /// What a failover that loses the last writes looks like: everything becomes what it is in `from`, except that time
    /// does not go back, and that a new generation begins. Whoever listens learns that hints may have been missed.
    pub fn restore(&self, from: &MemoryBackend) {
        let kept = from.lock().clone();
        self.lock().restore(kept);
    }

    /// Lets time pass.
    pub fn advance(&self, by: Duration) {
        self.lock().advance(by);
    }

    /// The store's time.
    pub fn now(&self) -> Timestamp {
        self.lock().now
    }

    /// How many entries of queues `reserve` has visited so far: its cost, for tests that bound it.
    pub fn entries_visited(&self) -> u64 {
        self.lock().queues.visited
    }

    fn lock(&self) -> MutexGuard<'_, Store> {
        self.store
            .lock()
            .expect("a call panicked and may have left the store half written")
    }

    /// One call: nothing it sees is past its time to live, and its hints are sent when it is done.
    fn call<T>(&self, f: impl FnOnce(&mut Store) -> T) -> T {
        let mut store = self.lock();
        store.forget_expired();
        let answer = f(&mut store);
        store.hints.send();
        answer
    }
}

#[async_trait]
impl Backend for MemoryBackend {
    async fn load(&self, loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        Ok(self.call(|store| loads.into_iter().map(|load| store.load(load)).collect()))
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        self.call(|store| store.commit_batch(batch))
    }

    async fn reserve(&self, ask: Reserve) -> Result<Reservation> {
        Ok(self.call(|store| store.reserve(&ask)))
    }

    async fn due(&self, ask: Due) -> Result<DuePage> {
        Ok(self.call(|store| store.due(&ask)))
    }

    async fn list(&self, query: Query) -> Result<Page> {
        self.call(|store| store.list(&query))
    }

    async fn ledger(&self, calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>> {
        self.call(|store| calls.iter().map(|call| Ok(store.ledger(call))).collect())
    }

    async fn append(&self, batch: Vec<Append>) -> Vec<std::result::Result<Appended, AppendError>> {
        self.call(|store| batch.into_iter().map(|append| store.append(append)).collect())
    }

    async fn read(&self, range: FrameRange) -> Result<Frames> {
        Ok(self.call(|store| store.read(&range)))
    }

    async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        Ok(self.call(|store| ops.into_iter().map(|op| store.settings(op)).collect()))
    }

    fn hints(&self) -> HintStream {
        self.lock().hints.subscribe()
    }

    async fn ping(&self) -> Result<Timestamp> {
        Ok(self.now())
    }
}

#[cfg(test)]
mod tests;
