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
use ff_backend::budget::{BudgetAnswer, BudgetCall, BudgetReply};
use ff_backend::due::{Due, DuePage};
use ff_backend::frames::{Append, AppendError, Appended, FrameRange, Frames};
use ff_backend::hint::HintStream;
use ff_backend::load::{Load, Snapshot};
use ff_backend::query::{Page, Query, Rows};
use ff_backend::quota::{QuotaCall, QuotaReply};
use ff_backend::reserve::{Reservation, Reserve};
use ff_backend::settings::{SettingsOp, SettingsReply};
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_backend::{Backend, Error, Result};
use ff_core::machine::budget::UsageReport;
use ff_core::time::Timestamp;

use self::grants::Consumed;
use self::retention::Calendar;
use self::slots::Aliases;
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
impl Backend for Saboteur {
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

    async fn reserve(&self, ask: Reserve) -> Result<Reservation> {
        self.inner.reserve(ask).await
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

    async fn budget(&self, mut calls: Vec<BudgetCall>) -> Vec<Result<BudgetReply>> {
        if self.sabotage == Sabotage::ReportsUnnamed {
            for call in &mut calls {
                if let BudgetCall::Report { report, .. } = call {
                    *report = UsageReport::new(report.deltas.clone());
                }
            }
        }
        let mut replies = self.inner.budget(calls).await;
        if self.sabotage == Sabotage::GenerationCheckRemoved {
            for reply in replies.iter_mut().flatten() {
                if let Ok(BudgetAnswer::Budget(view)) = &mut reply.answer {
                    view.generation = 1;
                }
            }
        }
        replies
    }

    async fn quota(&self, mut calls: Vec<QuotaCall>) -> Vec<Result<QuotaReply>> {
        if self.sabotage == Sabotage::SlotKeyedByExecution {
            self.memory().aliases.rename(&mut calls);
        }
        let mut replies = self.inner.quota(calls).await;
        if self.sabotage == Sabotage::GenerationCheckRemoved {
            replies.iter_mut().flatten().for_each(slots::freeze_generation);
        }
        replies
    }

    async fn append(&self, batch: Vec<Append>) -> Vec<std::result::Result<Appended, AppendError>> {
        self.inner.append(batch).await
    }

    async fn read(&self, range: FrameRange) -> Result<Frames> {
        self.inner.read(range).await
    }

    async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        self.inner.settings(ops).await
    }

    fn hints(&self) -> HintStream {
        self.inner.hints()
    }

    async fn ping(&self) -> Result<Timestamp> {
        self.inner.ping().await
    }
}
