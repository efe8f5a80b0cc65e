//! The store with a watch on it: every write that lands is looked at before anybody else can act.

use std::sync::Arc;

use async_trait::async_trait;
use ff_backend::frames::{Append, AppendError, Appended};
use ff_backend::layer::Layer;
use ff_backend::ledger::LedgerReply;
use ff_backend::memory::MemoryBackend;
use ff_backend::reserve::{Reservation, Reserve};
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_backend::{Backend, Error, Result};
use ff_core::ledger::LedgerCall;

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
impl Layer for Observed {
    fn inner(&self) -> &dyn Backend {
        &*self.memory
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

    async fn ledger(&self, calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>> {
        let mut answers = Vec::with_capacity(calls.len());
        for call in calls {
            let answer = only(self.memory.ledger(vec![call.clone()]).await, Err);
            if let Ok(reply) = &answer {
                let asked = || format!("      · {call:?}: {:?}", reply.answer);
                self.stage.trace.note(asked);
                self.stage.watch.asked(&call, reply);
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
}
