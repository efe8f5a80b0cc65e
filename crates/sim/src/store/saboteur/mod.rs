//! A store, or an engine, that breaks one promise. Each shows that the invariants notice.
//!
//! What would be a mistake of the engine is made here as well, between engine and store: a transaction without its guards is
//! what an engine sends that forgot them.

mod flows;
mod grants;
mod retention;
mod slots;
mod steps;
mod transactions;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use ff_backend::due::{Due, DuePage};
use ff_backend::layer::Layer;
use ff_backend::ledger::LedgerReply;
use ff_backend::load::{Load, Snapshot};
use ff_backend::query::{Page, Query, Rows};
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_backend::{Backend, Error, Result};
use ff_core::ledger::LedgerCall;

use self::grants::Consumed;
use self::retention::Calendar;
use self::slots::{Aliases, Frozen};
use crate::luck::Luck;

/// A promise that is broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sabotage {
    /// Whoever shows any fence is taken for the holder.
    NoFence,
    /// Versions are not compared.
    NoVersionCheck,
    /// Transactions land however late they are.
    NoNotAfter,
    /// Counters move although the record beside them does not.
    IncrementsApart,
    /// Effects on other partitions are forgotten.
    OutboxDropped,
    /// Leases of members do not guard on the gate of their flow.
    GateGuardRemoved,
    /// A quota slot belongs to an execution instead of to a lease.
    SlotKeyedByExecution,
    /// Nobody is asked to look at a child whose upstream ended.
    NudgeLost,
    /// A new lease has the epoch of the one before.
    EpochNotRaised,
    /// A redeemed grant stays open.
    GrantRedeemedTwice,
    /// A limit that moved while work was blocked by it looks as if it had not.
    GenerationCheckRemoved,
    /// What was replayed is deleted when its first end would have been.
    RetentionIgnoresReplay,
    /// New dependencies are not written.
    EdgesForgotten,
    /// A flow nobody has opened is deleted although something in it ran.
    UnopenedFlowGoes,
    /// Nobody remembers what was asked for before.
    RequestsForgotten,
    /// Usage reports come without anything that tells one from another.
    ReportsUnnamed,
    /// Whoever has missed events is told that there are none.
    GapsUnsaid,
    /// Steps are not written, and not counted.
    StepsForgotten,
    /// Steps are removed when the lease that recorded them ends.
    StepsGoWithLeases,
    /// Steps are recorded under a lease that is not the live one.
    StepsOfOtherLeases,
    /// A new step is written over the one of its name.
    StepsOverwritten,
    /// A place is given again.
    StepPlacesReused,
    /// An execution does not count its steps.
    StepsMiscounted,
    /// Steps have other outputs than they left.
    StepOutputsMixedUp,
    /// Whoever reads steps does not see the last one.
    StepsHidden,
    /// What steps cost is charged nowhere.
    StepCostsForgotten,
    /// Waits are recorded when they begin.
    WaitsRecordedEarly,
    /// Whoever reads steps does not see the wait that is not over.
    WaitsHidden,
    /// A replay forgets every step, whatever it was to keep.
    ReplayForgetsAll,
}

impl Sabotage {
    /// Every one of them.
    pub const ALL: [Sabotage; 29] = [
        Sabotage::NoFence,
        Sabotage::NoVersionCheck,
        Sabotage::NoNotAfter,
        Sabotage::IncrementsApart,
        Sabotage::OutboxDropped,
        Sabotage::GateGuardRemoved,
        Sabotage::SlotKeyedByExecution,
        Sabotage::NudgeLost,
        Sabotage::EpochNotRaised,
        Sabotage::GrantRedeemedTwice,
        Sabotage::GenerationCheckRemoved,
        Sabotage::RetentionIgnoresReplay,
        Sabotage::EdgesForgotten,
        Sabotage::UnopenedFlowGoes,
        Sabotage::RequestsForgotten,
        Sabotage::ReportsUnnamed,
        Sabotage::GapsUnsaid,
        Sabotage::StepsForgotten,
        Sabotage::StepsGoWithLeases,
        Sabotage::StepsOfOtherLeases,
        Sabotage::StepsOverwritten,
        Sabotage::StepPlacesReused,
        Sabotage::StepsMiscounted,
        Sabotage::StepOutputsMixedUp,
        Sabotage::StepsHidden,
        Sabotage::StepCostsForgotten,
        Sabotage::WaitsRecordedEarly,
        Sabotage::WaitsHidden,
        Sabotage::ReplayForgetsAll,
    ];
}

/// A store with one promise broken.
pub struct Saboteur {
    inner: Arc<dyn Backend>,
    sabotage: Sabotage,
    luck: Luck,
    memory: Mutex<Memory>,
}

/// What the saboteur remembers.
#[derive(Default)]
struct Memory {
    consumed: Consumed,
    calendar: Calendar,
    aliases: Aliases,
    frozen: Frozen,
}

impl Saboteur {
    /// `inner` with one promise broken.
    pub fn new(inner: Arc<dyn Backend>, sabotage: Sabotage, luck: Luck) -> Self {
        Self {
            inner,
            sabotage,
            luck,
            memory: Mutex::default(),
        }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Layer for Saboteur {
    fn inner(&self) -> &dyn Backend {
        &*self.inner
    }

    async fn load(&self, loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        let mut snapshots = self.inner.load(loads.clone()).await?;
        match self.sabotage {
            Sabotage::GrantRedeemedTwice => self.memory().consumed.show_again(&mut snapshots),
            Sabotage::StepsHidden => steps::hide_last_steps(&loads, &mut snapshots),
            Sabotage::WaitsHidden => steps::hide_waits(&loads, &mut snapshots),
            _ => {}
        }
        Ok(snapshots)
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        let mut answers = Vec::with_capacity(batch.len());
        for transaction in batch {
            let transaction = self.spoil(transaction).await;
            let unopened = flows::with_members_that_ran(&transaction);
            answers.extend(self.inner.commit(vec![transaction]).await);
            if self.sabotage == Sabotage::UnopenedFlowGoes {
                self.throw_away(unopened).await;
            }
        }
        answers
    }

    async fn due(&self, ask: Due) -> Result<DuePage> {
        if self.sabotage == Sabotage::RetentionIgnoresReplay {
            self.delete_what_was_replayed().await;
        }
        self.inner.due(ask).await
    }

    async fn list(&self, query: Query) -> Result<Page> {
        match self.inner.list(query).await {
            Err(Error::CursorExpired { .. }) if self.sabotage == Sabotage::GapsUnsaid => Ok(Page {
                now: self.inner.ping().await?,
                rows: Rows::Feed(Vec::new()),
                next: None,
            }),
            answer => answer,
        }
    }

    async fn ledger(&self, mut calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>> {
        match self.sabotage {
            Sabotage::ReportsUnnamed => calls.iter_mut().for_each(forget_names),
            Sabotage::SlotKeyedByExecution => self.memory().aliases.rename(&mut calls),
            _ => {}
        }
        let mut replies = self.inner.ledger(calls.clone()).await;
        if self.sabotage == Sabotage::GenerationCheckRemoved {
            for (call, reply) in calls.iter().zip(&mut replies) {
                if let Ok(reply) = reply {
                    self.memory().frozen.freeze(call, reply);
                }
            }
        }
        replies
    }
}

/// A report that no repetition can be told of.
fn forget_names(call: &mut LedgerCall) {
    if let LedgerCall::Draw(draw) = call {
        draw.identities.clear();
        draw.bearer = None;
    }
}
