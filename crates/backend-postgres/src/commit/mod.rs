//! Transactions: many in one call, all that land in one step.

mod batch;
mod waves;

use ff_backend::Error;
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_core::partition::Family;
use ff_core::time::Timestamp;

use self::batch::Batch;
use self::waves::waves;
use crate::call::call;
use crate::error::corrupt;
use crate::hints;
use crate::rows::{Verdict, some};
use crate::shared::{Shared, locked, version};

type Answer = Result<Committed, CommitError>;

/// The transactions of a call that are not answered yet, each with its place in the call.
type Open<'t> = Vec<(usize, &'t Transaction)>;

/// What a call came to: everything landed, or these do not and nothing was done, or nothing was.
enum Outcome {
    Landed(Vec<Committed>),
    Refused(Vec<(usize, CommitError)>),
    /// Nothing was done, because the store has forgotten what a queue is called.
    Forgotten,
}

impl Shared {
    /// Commits each transaction or leaves no trace of it.
    pub(crate) async fn commit(&self, batch: Vec<Transaction>) -> Vec<Answer> {
        let mut answers: Vec<Option<Answer>> = batch.iter().map(|one| self.check(one).err().map(Err)).collect();
        let asked = batch.iter().enumerate();
        let open: Open<'_> = asked.filter(|(place, _)| answers[*place].is_none()).collect();
        for wave in waves(open) {
            self.commit_wave(wave, &mut answers).await;
        }
        let unanswered = || Err(CommitError::Store(corrupt("a transaction was not answered")));
        answers
            .into_iter()
            .map(|answer| answer.unwrap_or_else(unanswered))
            .collect()
    }

    fn check(&self, transaction: &Transaction) -> Result<(), CommitError> {
        transaction.check()?;
        if transaction.partition.index >= self.counts.count(Family::Flow) {
            return Err(CommitError::Malformed("not a partition of this store"));
        }
        Ok(())
    }

    /// Commits transactions that write nothing in common. Those that may not land are answered, and the others sent again.
    async fn commit_wave(&self, mut open: Open<'_>, answers: &mut [Option<Answer>]) {
        let mut one_by_one = Vec::new();
        while !open.is_empty() {
            match self.send(&open).await {
                Ok(Outcome::Landed(committed)) => {
                    for ((place, _), committed) in open.drain(..).zip(committed) {
                        answers[place] = Some(Ok(committed));
                    }
                }
                Ok(Outcome::Refused(refused)) => {
                    for (nth, why) in refused {
                        answers[open[nth].0].get_or_insert(Err(why));
                    }
                    open.retain(|(place, _)| answers[*place].is_none());
                }
                Ok(Outcome::Forgotten) => locked(&self.queue_numbers).clear(),
                // What one of them brings may be at fault, and the others with it.
                Err(Error::Corrupt(_)) if open.len() > 1 => one_by_one.append(&mut open),
                Err(error) => {
                    for (place, _) in open.drain(..) {
                        answers[place] = Some(Err(CommitError::Store(error.clone())));
                    }
                }
            }
            if open.is_empty() {
                open.extend(one_by_one.pop());
            }
        }
    }

    async fn send(&self, open: &[(usize, &Transaction)]) -> ff_backend::Result<Outcome> {
        let transactions: Vec<&Transaction> = open.iter().map(|(_, transaction)| *transaction).collect();
        let plan = match self.plan_queues(&transactions).await? {
            Ok(plan) => plan,
            Err(crowded) => {
                let refused = crowded.into_iter().map(|nth| (nth, CommitError::TooManyQueues));
                return Ok(Outcome::Refused(refused.collect()));
            }
        };
        let batch = Batch::of(&transactions, &plan);
        let (now, answer) = self
            .ask(call!(writing commit(
                transactions: &batch.transactions,
                must_exist: &batch.must_exist,
                expected_executions: &some(&batch.expected_executions),
                expected_records: &some(&batch.expected_records),
                guards: &some(&batch.guards),
                queues: &some(&plan.queues()),
                created: &some(&batch.created),
                replaced: &some(&batch.replaced),
                deleted: &some(&batch.deleted),
                created_records: &some(&batch.created_records),
                replaced_records: &some(&batch.replaced_records),
                deleted_records: &some(&batch.deleted_records),
                remains: &some(&batch.remains),
                leaves: &some(&batch.leaves),
                enters: &some(&batch.enters),
                increments: &some(&batch.increments),
                nudges: &some(&batch.nudges),
                cleared: &some(&batch.cleared),
                first_payloads: &some(&batch.first_payloads),
                payloads: &some(&batch.payloads),
                lines: &some(&batch.lines),
                told: &some(&batch.told),
                ends: &some(&batch.ends),
            )))
            .await?;
        let verdicts: Vec<Verdict> = answer.get("verdicts")?;
        if !verdicts.is_empty() {
            let refusal = |verdict: Verdict| {
                let nth = usize::try_from(verdict.tx - 1).map_err(corrupt)?;
                Ok((nth, refusal(transactions[nth], &verdict, now)?))
            };
            return verdicts
                .into_iter()
                .map(refusal)
                .collect::<ff_backend::Result<_>>()
                .map(Outcome::Refused);
        }
        if answer.get("has_forgotten")? {
            return Ok(Outcome::Forgotten);
        }
        let mut counters = answer.list::<i64>("counters")?.into_iter();
        let landed = transactions.iter().map(|transaction| {
            let moved = transaction.increments.iter().map(|(key, _)| *key);
            Committed {
                now,
                counters: moved.zip(counters.by_ref()).collect(),
            }
        });
        self.entered(&plan);
        let told = transactions.iter().flat_map(|landed| batch::hints(landed, now));
        hints::tell(self, plan.hints().into_iter().chain(told).collect());
        Ok(Outcome::Landed(landed.collect()))
    }
}

/// Why a transaction did not land.
fn refusal(transaction: &Transaction, verdict: &Verdict, now: Timestamp) -> ff_backend::Result<CommitError> {
    Ok(match verdict.why.as_str() {
        "generation" => CommitError::OtherGeneration,
        "too_late" => CommitError::TooLate { now },
        _ => {
            let nth = verdict.nth.and_then(|nth| usize::try_from(nth).ok());
            let expectation = nth.and_then(|nth| transaction.expectations().nth(nth));
            let (_, key, _) = expectation.ok_or_else(|| corrupt("a conflict of nothing"))?;
            let found = verdict
                .version
                .zip(verdict.tag)
                .map(|(counter, tag)| version(counter, tag));
            CommitError::Conflict { key, found }
        }
    })
}
