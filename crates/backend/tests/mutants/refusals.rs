//! Commits that are answered wrong, and refusals that leave something behind.

use async_trait::async_trait;
use ff_backend::Backend;
use ff_backend::layer::Layer;
use ff_backend::transaction::{CommitError, Committed, Delete, Put, Transaction, Version};
use ff_core::id::FlowId;
use ff_core::record::{Gate, GateState, Record};
use uuid::Uuid;

use crate::liar::lies;

lies! {
    ();
    /// What a refused transaction wrote first stays written.
    PartialCommit,
    /// Counters move although the transaction is refused.
    IncrementsOutsideTransaction,
    /// One refused transaction takes those after it in the batch along.
    BatchFailsTogether,
    /// A transaction of another generation is refused for a version that differs too.
    GenerationCheckedLast,
    /// A late transaction is refused for its time although a version differs.
    NotAfterCheckedFirst,
    /// A conflict names the last record of the transaction instead of the one that differs.
    ConflictNamesWrongRecord,
    /// A conflict does not say which version there is.
    ConflictForgetsVersion,
    /// Counters move, but the reply does not say so.
    CountersNotAnswered,
    /// Transactions of a batch get each other's answers.
    AnswersReversed,
}

type Answer = Result<Committed, CommitError>;

#[async_trait]
impl Layer for Liar {
    fn inner(&self) -> &dyn Backend {
        &*self.honest
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<Answer> {
        let mut answers: Vec<Answer> = Vec::new();
        for transaction in batch {
            let answer = match answers.last() {
                Some(Err(refusal)) if self.lie == Lie::BatchFailsTogether => Err(refusal.clone()),
                _ => self.commit_one(transaction).await,
            };
            answers.push(answer);
        }
        if self.lie == Lie::AnswersReversed {
            answers.reverse();
        }
        answers
    }
}

impl Liar {
    async fn commit_one(&self, transaction: Transaction) -> Answer {
        match self.honest.commit_one(transaction.clone()).await {
            Ok(mut committed) => {
                if self.lie == Lie::CountersNotAnswered {
                    committed.counters.clear();
                }
                Ok(committed)
            }
            Err(refusal) => Err(self.mishandled(&transaction, refusal).await),
        }
    }

    async fn mishandled(&self, transaction: &Transaction, refusal: CommitError) -> CommitError {
        match (self.lie, refusal) {
            (Lie::PartialCommit, refusal) => {
                self.write_what_fits(transaction).await;
                refusal
            }
            (Lie::IncrementsOutsideTransaction, refusal) => {
                self.move_counters(transaction).await;
                refusal
            }
            (Lie::GenerationCheckedLast, CommitError::OtherGeneration) => {
                let conflict = self.honest.commit_one(guarding(transaction)).await;
                conflict.err().unwrap_or(CommitError::OtherGeneration)
            }
            (Lie::NotAfterCheckedFirst, CommitError::Conflict { key, found }) => {
                let now = self.honest.memory.now();
                match transaction.not_after {
                    Some(at) if at.has_come(now) => CommitError::TooLate { now },
                    _ => CommitError::Conflict { key, found },
                }
            }
            (Lie::ConflictNamesWrongRecord, CommitError::Conflict { key, found }) => {
                let last = transaction.expectations().last().map_or(key, |(_, key, _)| key);
                CommitError::Conflict { key: last, found }
            }
            (Lie::ConflictForgetsVersion, CommitError::Conflict { key, .. }) => {
                CommitError::Conflict { key, found: None }
            }
            (_, refusal) => refusal,
        }
    }

    async fn write_what_fits(&self, transaction: &Transaction) {
        for put in transaction.puts.iter().cloned() {
            let alone = Transaction {
                puts: vec![put],
                ..Transaction::new(transaction.partition, transaction.tag)
            };
            let _ = self.honest.commit_one(alone).await;
        }
    }

    /// Counters move only together with a record, so one comes and goes.
    async fn move_counters(&self, transaction: &Transaction) {
        let record = Record::from(Gate {
            flow_id: FlowId::from_uuid(Uuid::max()),
            state: GateState::Open,
        });
        let key = record.key();
        let put = Put::create(record);
        let coming = Transaction {
            puts: vec![put],
            increments: transaction.increments.clone(),
            ..Transaction::new(transaction.partition, transaction.tag)
        };
        let going = Transaction {
            deletes: vec![Delete::unlisted(key, Version::first(transaction.tag))],
            ..Transaction::new(transaction.partition, transaction.tag)
        };
        self.honest.memory.commit(vec![coming, going]).await;
    }
}

/// Finds out whether the versions are as a transaction expects, and does nothing else.
fn guarding(transaction: &Transaction) -> Transaction {
    let expected = transaction.expectations().map(|(_, key, expected)| (key, expected));
    Transaction {
        guards: expected.collect(),
        ..Transaction::new(transaction.partition, transaction.tag)
    }
}
