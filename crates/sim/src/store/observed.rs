//! The store with a watch on it: every write that lands is looked at before anybody else can act.

use std::sync::Arc;

use async_trait::async_trait;
use ff_backend::budget::{BudgetCall, BudgetReply};
use ff_backend::due::{Due, DuePage};
use ff_backend::frames::{Append, AppendError, Appended, FrameRange, Frames};
use ff_backend::hint::HintStream;
use ff_backend::load::{Load, Snapshot};
use ff_backend::memory::MemoryBackend;
use ff_backend::query::{Page, Query};
use ff_backend::quota::{QuotaCall, QuotaReply};
use ff_backend::reserve::{Reservation, Reserve};
use ff_backend::settings::{SettingsOp, SettingsReply};
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_backend::{Backend, Error, Result};
use ff_core::time::Timestamp;

use super::landed;
use crate::stage::Stage;

/// A store in memory that tells the watch what landed.
pub struct Observed {
    memory: Arc<MemoryBackend>,
    stage: Stage,
}

impl Observed {
    /// `memory`, watched.
    pub fn new(memory: Arc<MemoryBackend>, stage: Stage) -> Self {
        Self { memory, stage }
    }
}

/// The one answer to a batch of one.
fn only<T>(mut answers: Vec<T>, otherwise: impl FnOnce(Error) -> T) -> T {
    let missing = || otherwise(Error::Corrupt("a call was not answered".to_owned()));
    answers.pop().unwrap_or_else(missing)
}

#[async_trait]
impl Backend for Observed {
    async fn load(&self, loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        self.memory.load(loads).await
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        let mut answers = Vec::with_capacity(batch.len());
        for transaction in batch {
            let answer = self.memory.commit(vec![transaction.clone()]).await;
            let answer = only(answer, |error| Err(CommitError::Store(error)));
            if let Ok(committed) = &answer {
                self.stage.trace.note(|| landed::transaction(&transaction));
                self.stage.watch.landed(transaction, committed.now);
            }
            answers.push(answer);
        }
        answers
    }

    async fn reserve(&self, ask: Reserve) -> Result<Reservation> {
        let reservation = self.memory.reserve(ask).await?;
        for task in &reservation.tasks {
            let handed_out = || format!("      · hands out {}", landed::execution(&task.execution));
            self.stage.trace.note(handed_out);
        }
        self.stage.watch.handed_out(&reservation);
        Ok(reservation)
    }

    async fn due(&self, ask: Due) -> Result<DuePage> {
        self.memory.due(ask).await
    }

    async fn list(&self, query: Query) -> Result<Page> {
        self.memory.list(query).await
    }

    async fn budget(&self, calls: Vec<BudgetCall>) -> Vec<Result<BudgetReply>> {
        let mut answers = Vec::with_capacity(calls.len());
        for call in calls {
            let answer = only(self.memory.budget(vec![call.clone()]).await, Err);
            if let Ok(reply) = &answer {
                let asked = || format!("      · {call:?}: {:?}", reply.answer);
                self.stage.trace.note(asked);
                self.stage.watch.asked_budget(&call, reply);
            }
            answers.push(answer);
        }
        answers
    }

    async fn quota(&self, calls: Vec<QuotaCall>) -> Vec<Result<QuotaReply>> {
        let mut answers = Vec::with_capacity(calls.len());
        for call in calls {
            let answer = only(self.memory.quota(vec![call.clone()]).await, Err);
            if let Ok(reply) = &answer {
                let asked = || format!("      · {call:?}: {:?}", reply.answer);
                self.stage.trace.note(asked);
                self.stage.watch.asked_quota(&call, reply);
            }
            answers.push(answer);
        }
        answers
    }

    async fn append(&self, batch: Vec<Append>) -> Vec<std::result::Result<Appended, AppendError>> {
        let mut answers = Vec::with_capacity(batch.len());
        for append in batch {
            let answer = self.memory.append(vec![append.clone()]).await;
            let answer = only(answer, |error| Err(AppendError::Store(error)));
            if let Ok(appended) = &answer {
                self.stage.watch.appended(&append, appended);
            }
            answers.push(answer);
        }
        answers
    }

    async fn read(&self, range: FrameRange) -> Result<Frames> {
        self.memory.read(range).await
    }

    async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        self.memory.settings(ops).await
    }

    fn hints(&self) -> HintStream {
        self.memory.hints()
    }

    async fn ping(&self) -> Result<Timestamp> {
        self.memory.ping().await
    }
}
