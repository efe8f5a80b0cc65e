//! Load, decide, commit, until it holds: the loop under every operation.
//!
//! ```text
//! let mut tries = engine.tries(key).await;
//! loop {
//!     let reading = tries.read(load).await?;
//!     let step = rule(&reading, command, &context)?;
//!     if let Some(outcome) = tries.commit(&reading, step).await? {
//!         return Ok(outcome);
//!     }
//! }
//! ```
//!
//! A commit may have landed although its reply was lost. Every transaction has a tag of its own, and every record carries the
//! tag of the transaction that wrote it: finding one's own tag says that it landed, anything else that it must be decided
//! again from what is there now.

use std::time::Duration;

use ff_backend::Error;
use ff_backend::load::{Load, Snapshot};
use ff_backend::transaction::{CommitError, Committed, Tag, Transaction};
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::machine::Step;
use ff_core::record::RecordKey;

use crate::engine::Engine;
use crate::fault::{internal, refusal};
use crate::mint;
use crate::record_locks::RecordLock;

/// Conflicts in a row before the caller is told to try again later.
const CONFLICTS_MAX: u32 = 24;
/// Times the store may fail before the caller is told.
const FAILURES_MAX: u32 = 3;
/// The longest pause between two tries.
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// The tries of one operation on one record, which is locked.
pub(crate) struct Tries<'e, O> {
    engine: &'e Engine,
    _lock: RecordLock<'e>,
    conflicts: u32,
    failures: u32,
    /// Transactions whose reply was lost, with what they would have been answered.
    unsure: Vec<Unsure<O>>,
}

struct Unsure<O> {
    tag: Tag,
    witness: RecordKey,
    outcome: O,
}

/// A transaction before it is committed, with what is left to do when it has landed.
struct Attempted {
    transaction: Transaction,
    /// A record it writes.
    witness: RecordKey,
}

impl Engine {
    /// Locks `subject` and begins.
    pub(crate) async fn tries<O>(&self, subject: RecordKey) -> Tries<'_, O> {
        Tries {
            engine: self,
            _lock: self.shared.record_locks.lock(subject).await,
            conflicts: 0,
            failures: 0,
            unsure: Vec::new(),
        }
    }
}

impl<O> Tries<'_, O> {
    /// Reads what the next decision needs.
    pub(crate) async fn read(&mut self, load: Load) -> Result<Snapshot> {
        loop {
            match self.engine.store().load(load.clone()).await {
                Ok(snapshot) => return Ok(snapshot),
                Err(error) if self.failures >= FAILURES_MAX || error.code != Code::Unavailable => return Err(error),
                Err(_) => self.pause_after_failure().await,
            }
        }
    }

    /// What was read does not fit together: it is read again after a moment.
    pub(crate) async fn look_again(&mut self) -> Result<()> {
        self.pause_after_conflict().await
    }

    /// Commits what was decided from `snapshot`. `None`: something has changed, decide again.
    pub(crate) async fn commit(&mut self, snapshot: &Snapshot, step: Step<O>) -> Result<Option<O>> {
        self.commit_with(snapshot, step, |_| ()).await
    }

    /// The same, with a last word on the transaction.
    pub(crate) async fn commit_with(
        &mut self,
        snapshot: &Snapshot,
        step: Step<O>,
        finish: impl FnOnce(&mut Transaction),
    ) -> Result<Option<O>> {
        if let Some(landed) = self.landed_before(snapshot) {
            return Ok(Some(landed));
        }
        if step.draft.is_empty() {
            let mut transaction = Transaction::new(snapshot.partition, self.fresh_tag());
            finish(&mut transaction);
            if transaction.clear_nudges.is_empty() {
                return Ok(Some(step.outcome));
            }
            // Nothing in it has a version, and the stamp of a lost nudge may be another's by now.
            transaction.generation = Some(snapshot.generation);
            return self.send(transaction, step.outcome, snapshot).await;
        }
        let mut transaction = Transaction::bind(step.draft, snapshot, self.fresh_tag());
        finish(&mut transaction);
        self.send(transaction, step.outcome, snapshot).await
    }

    fn fresh_tag(&self) -> Tag {
        mint::tag(self.engine.host())
    }

    async fn send(&mut self, transaction: Transaction, outcome: O, snapshot: &Snapshot) -> Result<Option<O>> {
        let tag = transaction.tag;
        let attempted = Attempted {
            witness: witness(&transaction),
            transaction,
        };
        match self.engine.store().commit(attempted.transaction.clone()).await {
            Ok(committed) => {
                self.engine.after_commit(&attempted.transaction, snapshot, &committed);
                Ok(Some(outcome))
            }
            Err(CommitError::Conflict { key, found }) => {
                self.engine.forget_cached(&key);
                let lost = self
                    .unsure
                    .iter()
                    .position(|sent| found.is_some_and(|found| found.tag == sent.tag));
                if let Some(position) = lost {
                    return Ok(Some(self.unsure.swap_remove(position).outcome));
                }
                self.pause_after_conflict().await?;
                Ok(None)
            }
            Err(CommitError::OtherGeneration | CommitError::TooLate { .. }) => {
                self.engine.forget_cached(&attempted.witness);
                self.pause_after_conflict().await?;
                Ok(None)
            }
            Err(CommitError::TooManyQueues) => Err(Code::TooManySignatures
                .because("the lane has too many different requirements waiting; try again later")),
            Err(CommitError::Malformed(why)) => Err(internal(why)),
            Err(CommitError::Store(Error::Unknown(why))) => {
                tracing::debug!(%why, "the reply to a commit was lost");
                self.engine.forget_cached(&attempted.witness);
                self.unsure.push(Unsure {
                    tag,
                    witness: attempted.witness,
                    outcome,
                });
                self.look_for_lost(snapshot).await
            }
            Err(CommitError::Store(error)) => {
                if self.failures >= FAILURES_MAX {
                    return Err(refusal(&error));
                }
                self.pause_after_failure().await;
                Ok(None)
            }
        }
    }

    /// The reply was lost: the record says whether the transaction landed.
    async fn look_for_lost(&mut self, snapshot: &Snapshot) -> Result<Option<O>> {
        let witnesses: Vec<RecordKey> = self.unsure.iter().map(|sent| sent.witness.clone()).collect();
        self.failures += 1;
        if self.failures > FAILURES_MAX {
            return Err(Code::Unavailable.because("the reply of the store was lost; it is safe to try again"));
        }
        let found = self.read(Load::records(snapshot.partition, witnesses)).await?;
        Ok(self.landed_before(&found))
    }

    /// The outcome of a transaction whose reply was lost, if `snapshot` shows that it landed.
    fn landed_before(&mut self, snapshot: &Snapshot) -> Option<O> {
        let landed = |sent: &Unsure<O>| {
            snapshot
                .version(&sent.witness)
                .is_some_and(|version| version.tag == sent.tag)
        };
        let position = self.unsure.iter().position(landed)?;
        Some(self.unsure.swap_remove(position).outcome)
    }

    async fn pause_after_conflict(&mut self) -> Result<()> {
        self.conflicts += 1;
        if self.conflicts > CONFLICTS_MAX {
            return Err(Code::Contention.because("too many others change the same thing; try again"));
        }
        // The first conflict is usually a stale memory: read again at once.
        if self.conflicts > 1 {
            self.pause(self.conflicts - 1).await;
        }
        Ok(())
    }

    async fn pause_after_failure(&mut self) {
        self.failures += 1;
        self.pause(self.failures + 3).await;
    }

    async fn pause(&self, tries: u32) {
        let longest = Duration::from_millis(1 << tries.min(8)).min(PAUSE_MAX);
        let host = self.engine.host();
        let jitter = mint::dice(host) % (u64::try_from(longest.as_micros()).unwrap_or(u64::MAX) + 1);
        host.sleep(Duration::from_micros(jitter)).await;
    }
}

/// A record that carries the transaction's tag once it has landed. A transaction that only deletes or clears nudges has none:
/// whoever repeats it finds nothing left to do.
fn witness(transaction: &Transaction) -> RecordKey {
    let put = transaction.puts.first().map(|put| put.record.key());
    let deleted = || transaction.deletes.first().map(|(key, _)| key.clone());
    let cleared = || transaction.clear_nudges.first().map(|(key, _)| key.clone());
    put.or_else(deleted)
        .or_else(cleared)
        .unwrap_or_else(|| RecordKey::Flow(ff_core::id::FlowId::from_uuid(uuid::Uuid::nil())))
}

/// The counters a landed transaction moved, by their new values.
pub(crate) fn counter_is_zero(committed: &Committed, counter: &ff_core::record::CounterKey) -> bool {
    let moved = committed.counters.iter().find(|(key, _)| key == counter);
    moved.is_none_or(|(_, value)| *value == 0)
}
