//! Look, decide, commit, until it holds: the loop under every operation.
//!
//! ```text
//! let locked = engine.lock(key).await;
//! let decide = || async {
//!     let snapshot = locked.look(load).await?;
//!     let decided = rule(&snapshot, command, &context)?;
//!     Ok(Decision::Commit(snapshot, decided))
//! };
//! locked.transact(decide).await
//! ```
//!
//! What changes nothing is not sent to the store, so an answer that needs no commit is a [`Decision::unchanged`].
//!
//! A commit may have landed although its reply was lost. Every transaction has a tag of its own, and every record carries the
//! tag of the transaction that wrote it: finding one's own tag says that it landed, anything else that it must be decided
//! again from what is there now.

use ff_backend::Error;
use ff_backend::load::{Load, Snapshot};
use ff_backend::transaction::{CommitError, Tag, Transaction};
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::machine::Decided;
use ff_core::record::RecordKey;

use crate::after_commit::after_commit;
use crate::engine::Engine;
use crate::fault::{internal, refusal};
use crate::locked::Locked;
use crate::mint;

/// What a look at the store led to.
pub(crate) enum Decision<O> {
    /// To be committed against what it was decided from.
    Commit(Snapshot, Decided<O>),
    /// The same, which answers the nudge of a record: it is taken away as it was read, one that came since then stays.
    Answer(RecordKey, Snapshot, Decided<O>),
    /// What was read does not fit together, or is not enough.
    Undecided,
}

/// Transactions whose reply was lost, with what they would have been answered.
pub(crate) struct Lost<O>(Vec<LostReply<O>>);

struct LostReply<O> {
    tag: Tag,
    witness: RecordKey,
    outcome: O,
}

impl<O> Decision<O> {
    /// An answer that changes nothing.
    pub(crate) fn unchanged(snapshot: Snapshot, outcome: O) -> Self {
        Self::Commit(snapshot, Decided::unchanged(outcome))
    }
}

impl Locked<'_> {
    /// Decides until a decision holds. A refusal ends it.
    pub(crate) async fn transact<O, D>(&self, mut decide: impl FnMut() -> D) -> Result<O>
    where
        D: Future<Output = Result<Decision<O>>>,
    {
        let mut lost = Lost::default();
        loop {
            let decided = decide().await;
            // A refusal, or an answer that changes nothing, is not taken from memory.
            if self.leaves_memory() && !changes_something(&decided) {
                continue;
            }
            match decided? {
                Decision::Undecided => self.pause_after_conflict().await?,
                decision => {
                    if let Some(outcome) = self.carry_out(&mut lost, decision).await? {
                        return Ok(outcome);
                    }
                }
            }
        }
    }

    /// Decides once. `None`: it is undecided, or somebody was in the way.
    pub(crate) async fn transact_once<O>(
        &self,
        decide: impl Future<Output = Result<Decision<O>>>,
    ) -> Result<Option<O>> {
        self.carry_out(&mut Lost::default(), decide.await?).await
    }

    async fn carry_out<O>(&self, lost: &mut Lost<O>, decision: Decision<O>) -> Result<Option<O>> {
        match decision {
            Decision::Commit(snapshot, decided) => self.commit(lost, &snapshot, decided, None).await,
            Decision::Answer(nudged, snapshot, decided) => self.commit(lost, &snapshot, decided, Some(nudged)).await,
            Decision::Undecided => Ok(None),
        }
    }

    /// Commits what was decided from `snapshot`. `None`: something has changed, decide again.
    async fn commit<O>(
        &self,
        lost: &mut Lost<O>,
        snapshot: &Snapshot,
        decided: Decided<O>,
        nudged: Option<RecordKey>,
    ) -> Result<Option<O>> {
        if let Some(outcome) = lost.landed_in(snapshot) {
            return Ok(Some(outcome));
        }
        let tag = mint::tag(self.engine.host());
        let answered = nudged.and_then(|key| Some((snapshot.nudges.get(&key).copied()?, key)));
        let only_answers = decided.draft.is_empty();
        if only_answers && answered.is_none() {
            return Ok(Some(decided.outcome));
        }
        let mut transaction = Transaction::bind(decided.draft, snapshot, tag);
        transaction
            .clear_nudges
            .extend(answered.map(|(stamp, key)| (key, stamp)));
        if only_answers {
            // Nothing in it has a version, and the stamp of a lost nudge may be another's by now.
            transaction.generation = Some(snapshot.generation);
        }
        self.send(lost, transaction, decided.outcome, snapshot).await
    }

    async fn send<O>(
        &self,
        lost: &mut Lost<O>,
        transaction: Transaction,
        outcome: O,
        snapshot: &Snapshot,
    ) -> Result<Option<O>> {
        let engine = self.engine;
        let witness = witness(&transaction);
        match engine.store().commit(transaction.clone()).await {
            Ok(committed) => {
                after_commit(engine, &transaction, snapshot, &committed);
                Ok(Some(outcome))
            }
            Err(CommitError::Conflict { key, found }) => {
                forget_cached(engine, &key);
                if let Some(outcome) = found.and_then(|found| lost.take(|sent| sent.tag == found.tag)) {
                    return Ok(Some(outcome));
                }
                self.pause_after_conflict().await?;
                Ok(None)
            }
            Err(CommitError::OtherGeneration | CommitError::TooLate { .. }) => {
                forget_cached(engine, &witness);
                self.pause_after_conflict().await?;
                Ok(None)
            }
            Err(CommitError::TooManyQueues) => Err(Code::TooManySignatures
                .because("the lane has too many different requirements waiting; try again later")),
            Err(CommitError::Malformed(why)) => Err(internal(why)),
            Err(CommitError::Store(Error::Unknown(why))) => {
                tracing::debug!(%why, "the reply to a commit was lost");
                forget_cached(engine, &witness);
                lost.0.push(LostReply {
                    tag: transaction.tag,
                    witness,
                    outcome,
                });
                self.look_for(lost, snapshot).await
            }
            Err(CommitError::Store(error)) => {
                if !self.may_fail_again() {
                    return Err(refusal(&error));
                }
                self.pause_after_failure().await;
                Ok(None)
            }
        }
    }

    /// The record says whether a transaction landed whose reply was lost.
    async fn look_for<O>(&self, lost: &mut Lost<O>, snapshot: &Snapshot) -> Result<Option<O>> {
        self.lost_reply()?;
        let witnesses: Vec<RecordKey> = lost.0.iter().map(|sent| sent.witness.clone()).collect();
        let found = self.load(Load::records(snapshot.partition, witnesses)).await?;
        Ok(lost.landed_in(&found))
    }
}

impl<O> Lost<O> {
    /// The outcome of one of them, if `snapshot` shows that it landed.
    fn landed_in(&mut self, snapshot: &Snapshot) -> Option<O> {
        self.take(|sent| {
            let version = snapshot.version(&sent.witness);
            version.is_some_and(|version| version.tag == sent.tag)
        })
    }

    fn take(&mut self, landed: impl Fn(&LostReply<O>) -> bool) -> Option<O> {
        let position = self.0.iter().position(landed)?;
        Some(self.0.swap_remove(position).outcome)
    }
}

impl<O> Default for Lost<O> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

fn changes_something<O>(decided: &Result<Decision<O>>) -> bool {
    matches!(decided, Ok(Decision::Commit(_, decided)) if !decided.draft.is_empty())
}

/// Forgets what is remembered of a record that turned out to be out of date.
fn forget_cached(engine: &Engine, key: &RecordKey) {
    if let RecordKey::Execution(id) = key {
        engine.shared.leases.forget(*id);
    }
}

/// A record that carries the transaction's tag once it has landed. A transaction that only deletes or clears nudges has none:
/// whoever repeats it finds nothing left to do.
fn witness(transaction: &Transaction) -> RecordKey {
    let put = transaction.puts.first().map(|put| put.record.key());
    let deleted = || transaction.deletes.first().map(|delete| delete.key.clone());
    let cleared = || transaction.clear_nudges.first().map(|(key, _)| key.clone());
    put.or_else(deleted)
        .or_else(cleared)
        .unwrap_or_else(|| RecordKey::Flow(ff_core::id::FlowId::from_uuid(uuid::Uuid::nil())))
}
