//! The store as one replica sees it: every call lets others go first, and any call may go wrong.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use ff_backend::due::{Due, DuePage};
use ff_backend::frames::{Append, AppendError, Appended, FrameRange, Frames};
use ff_backend::hint::HintStream;
use ff_backend::layer::Layer;
use ff_backend::ledger::LedgerReply;
use ff_backend::load::{Load, Snapshot};
use ff_backend::query::{Page, Query};
use ff_backend::reserve::{Reservation, Reserve};
use ff_backend::settings::{SettingsOp, SettingsReply};
use ff_backend::transaction::{CommitError, Committed, Put, Tag, Transaction};
use ff_backend::{Backend, Error, Result};
use ff_core::ledger::{AccountKey, Amend, Expected, LedgerCall};
use ff_core::partition::Partition;
use ff_core::record::{Record, RecordKey};
use ff_core::time::Timestamp;
use futures::future::BoxFuture;
use tokio::sync::broadcast;

use super::fault::{Fault, QUARREL_LENGTH, Weather};
use crate::executor::{ProcessId, yield_now};
use crate::luck::Luck;
use crate::stage::Stage;

/// Hints a listener may fall behind.
const HINTS_BACKLOG: usize = 1_024;
/// The longest that blocking work takes when nothing goes wrong.
const BLOCK_MILLIS_MAX: u64 = 3_000;

/// How much of a batch reaches the store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    Torn,
}

/// A store between which and its replica things go wrong.
pub struct Faulty {
    inner: Arc<dyn Backend>,
    stage: Stage,
    weather: Arc<Weather>,
    process: ProcessId,
    luck: Luck,
    /// A record somebody gets ahead of at every commit, and how often more.
    quarrel: Mutex<Option<(RecordKey, u32)>>,
}

impl Faulty {
    /// `inner` as `process` sees it.
    pub fn new(inner: Arc<dyn Backend>, stage: Stage, weather: Arc<Weather>, process: ProcessId, luck: Luck) -> Self {
        Self {
            inner,
            stage,
            weather,
            process,
            luck,
            quarrel: Mutex::default(),
        }
    }

    /// Makes one call through whatever strikes it. `call` is made at most once; whoever hears `Unknown` cannot tell.
    async fn through<'c, T>(&self, name: &'static str, call: impl FnOnce(Extent) -> BoxFuture<'c, T>) -> Result<T> {
        yield_now().await;
        let fault = self.weather.strike(&self.luck);
        if let Some(fault) = fault {
            self.struck(fault, name);
        }
        match fault {
            Some(Fault::ErrorBefore) => return Err(Error::Unavailable("simulated".to_owned())),
            Some(Fault::RequestLost) => return Err(Error::Unknown("simulated: the request was lost".to_owned())),
            Some(Fault::CrashBefore) => return self.crash().await,
            Some(Fault::Delay) => self.take(1, 200).await,
            Some(Fault::Stall) => self.hang(40).await,
            _ => {}
        }
        let extent = if fault == Some(Fault::BatchTorn) {
            Extent::Torn
        } else {
            Extent::Whole
        };
        let answer = call(extent).await;
        match fault {
            Some(Fault::ReplyLost | Fault::BatchTorn) => {
                self.take(0, 50).await;
                return Err(Error::Unknown("simulated: the reply was lost".to_owned()));
            }
            Some(Fault::CrashAfter) => return self.crash().await,
            Some(Fault::Delay) => self.take(0, 200).await,
            Some(Fault::Stall) => self.hang(40).await,
            // The answer is on its way: others act before it is read.
            _ => yield_now().await,
        }
        Ok(answer)
    }

    fn struck(&self, fault: Fault, name: &'static str) {
        self.stage.tally().strike(fault);
        let process = self.process;
        self.stage
            .trace
            .note(|| format!("        {process:?} {fault:?} in {name}"));
    }

    /// Takes a time between these, in milliseconds.
    async fn take(&self, at_least: u64, at_most: u64) {
        let millis = self.luck.between(at_least, at_most);
        self.stage.executor.sleep(Duration::from_millis(millis)).await;
    }

    /// Hangs for at most this many seconds, as long as the weather is bad.
    async fn hang(&self, seconds_max: u64) {
        for _ in 0..self.luck.between(0, seconds_max) {
            if self.weather.is_bad() {
                self.take(900, 1_100).await;
            }
        }
    }

    /// The process dies here, and so does this call.
    async fn crash<T>(&self) -> T {
        self.stage.executor.kill(self.process);
        std::future::pending().await
    }

    /// Somebody else writes a record of the batch just before it, so that it conflicts as it would in real life.
    async fn interfere(&self, batch: &[Transaction]) {
        let replaced = |put: &&Put| put.expected.is_some() && !matches!(put.record.key(), RecordKey::Gate(_));
        let victims: Vec<_> = batch
            .iter()
            .flat_map(|tx| {
                tx.puts
                    .iter()
                    .filter(replaced)
                    .map(|put| (tx.partition, put.record.key()))
            })
            .collect();
        let Some((partition, key)) = self.victim(&victims) else {
            return;
        };
        let Ok(mut found) = self.inner.load(vec![Load::records(partition, [key.clone()])]).await else {
            return;
        };
        let Some((record, version)) = found.pop().and_then(|mut snapshot| snapshot.records.remove(&key)) else {
            return;
        };
        let mut touch = Transaction::new(partition, Tag(self.luck.next() >> 11));
        touch.puts.push(Put::replace(record.clone(), (&record, version)));
        self.struck(Fault::Conflict, "commit");
        self.inner.commit(vec![touch]).await;
    }

    /// Somebody else changes an account of the batch just before it.
    async fn interfere_with_accounts(&self, calls: &[LedgerCall]) {
        let compared = calls.iter().filter_map(|call| match call {
            LedgerCall::Amend(amend) if matches!(amend.expected, Expected::Version(_)) => Some(amend.account),
            _ => None,
        });
        let compared: Vec<AccountKey> = compared.collect();
        if compared.is_empty() || !self.weather.conflicts(&self.luck) {
            return;
        }
        let touch = self.luck.pick(&compared).map(|account| Amend {
            tag: (self.luck.next() >> 11).max(1),
            ..Amend::new(*account, Expected::Any)
        });
        self.struck(Fault::Conflict, "ledger");
        let touch = touch.map(LedgerCall::Amend).into_iter().collect();
        self.inner.ledger(touch).await;
    }

    /// The record somebody gets ahead of, if any.
    fn victim(&self, candidates: &[(Partition, RecordKey)]) -> Option<(Partition, RecordKey)> {
        let mut quarrel = self.quarrel.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((about, left)) = quarrel.as_mut() {
            let again = candidates.iter().find(|(_, key)| key == about).cloned();
            if let Some(again) = again.filter(|_| self.weather.is_bad()) {
                *left -= 1;
                if *left == 0 {
                    *quarrel = None;
                }
                return Some(again);
            }
        }
        if self.weather.quarrels(&self.luck) {
            let about = self.luck.pick(candidates).cloned()?;
            *quarrel = Some((about.1.clone(), QUARREL_LENGTH));
            return Some(about);
        }
        let conflicts = self.weather.conflicts(&self.luck);
        self.luck.pick(candidates).filter(|_| conflicts).cloned()
    }

    /// As much of a batch as reaches the store.
    fn reaching<T>(&self, batch: Vec<T>, extent: Extent) -> Vec<T> {
        match extent {
            Extent::Whole => batch,
            Extent::Torn => batch.into_iter().filter(|_| self.luck.flip()).collect(),
        }
    }

    /// Hints from now on, of which some do not arrive.
    fn lossy_hints(&self) -> HintStream {
        let (sender, receiver) = broadcast::channel(HINTS_BACKLOG);
        let mut hints = self.inner.hints();
        let (stage, weather, luck) = (self.stage.clone(), Arc::clone(&self.weather), self.luck.fork());
        let forward = async move {
            while let Some(hint) = hints.next().await {
                if weather.loses_hint(&luck) {
                    stage.tally().strike(Fault::HintLost);
                } else if sender.send(hint).is_err() {
                    return;
                }
            }
        };
        self.stage.executor.spawn(self.process, Box::pin(forward));
        HintStream::new(receiver)
    }
}

/// Whether a transaction blocks work.
fn blocks(transaction: &Transaction) -> bool {
    let is_blocked = |put: &Put| match &put.record {
        Record::Execution(execution) => execution.runnable().is_some_and(|runnable| runnable.block.is_some()),
        _ => false,
    };
    transaction.puts.iter().any(is_blocked)
}

fn all<T>(count: usize, error: &Error) -> Vec<Result<T>> {
    (0..count).map(|_| Err(error.clone())).collect()
}

#[async_trait]
impl Layer for Faulty {
    fn inner(&self) -> &dyn Backend {
        &*self.inner
    }

    async fn load(&self, loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        self.through("load", |_| self.inner.load(loads)).await?
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        let count = batch.len();
        self.interfere(&batch).await;
        if batch.iter().any(blocks) && !self.weather.is_bad() && self.luck.flip() {
            // No fault: what holds the work back may open before the block lands, whatever the weather.
            self.take(1, BLOCK_MILLIS_MAX).await;
        }
        let done = self
            .through("commit", |extent| self.inner.commit(self.reaching(batch, extent)))
            .await;
        let lost = |error| {
            (0..count)
                .map(|_| Err(CommitError::Store(Error::clone(&error))))
                .collect()
        };
        done.unwrap_or_else(lost)
    }

    async fn reserve(&self, mut ask: Reserve) -> Result<Reservation> {
        let wanted = ask.claimants.len();
        let cut = wanted > 1 && self.weather.cuts_claim(&self.luck);
        if cut {
            self.struck(Fault::ClaimCut, "reserve");
            ask.claimants.truncate(1 + self.luck.index(wanted - 1));
        }
        let mut reservation = self.through("reserve", |_| self.inner.reserve(ask)).await??;
        reservation.cut |= cut;
        Ok(reservation)
    }

    async fn due(&self, ask: Due) -> Result<DuePage> {
        self.through("due", |_| self.inner.due(ask)).await?
    }

    async fn list(&self, query: Query) -> Result<Page> {
        self.through("list", |_| self.inner.list(query)).await?
    }

    async fn ledger(&self, calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>> {
        let count = calls.len();
        self.interfere_with_accounts(&calls).await;
        let done = self
            .through("ledger", |extent| self.inner.ledger(self.reaching(calls, extent)))
            .await;
        done.unwrap_or_else(|error| all(count, &error))
    }

    async fn append(&self, batch: Vec<Append>) -> Vec<std::result::Result<Appended, AppendError>> {
        let count = batch.len();
        let done = self
            .through("append", |extent| self.inner.append(self.reaching(batch, extent)))
            .await;
        let lost = |error| {
            (0..count)
                .map(|_| Err(AppendError::Store(Error::clone(&error))))
                .collect()
        };
        done.unwrap_or_else(lost)
    }

    async fn read(&self, range: FrameRange) -> Result<Frames> {
        self.through("read", |_| self.inner.read(range)).await?
    }

    async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        self.through("settings", |_| self.inner.settings(ops)).await?
    }

    fn hints(&self) -> HintStream {
        self.lossy_hints()
    }

    async fn ping(&self) -> Result<Timestamp> {
        self.through("ping", |_| self.inner.ping()).await?
    }
}
