//! Transactions, packed for the library; many in one call, in one call each per partition of a cluster.

mod pack;

use ff_backend::Error;
use ff_backend::queues::Moment;
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_core::partition::{Family, Partition};
use futures::future::join_all;
use redis::Value;

use self::pack::{Packed, Queues};
use crate::call::Reply;
use crate::error::corrupt;
use crate::keys::QueueName;
use crate::library::Function;
use crate::pack::Pack;
use crate::record::parse_version;
use crate::reply::{list, number, text};
use crate::shared::Shared;

/// Transactions in one call at most: the server does nothing else meanwhile.
const CALL_MAX: usize = 64;

type Answer = Result<Committed, CommitError>;

/// A transaction and where in the batch it stands.
type Numbered = (usize, Transaction);

impl Shared {
    /// Commits each transaction or leaves no trace of it.
    pub(crate) async fn commit(&self, batch: Vec<Transaction>) -> Vec<Answer> {
        let mut answers: Vec<Option<Answer>> = batch.iter().map(|_| None).collect();
        let mut asked = Vec::new();
        for (number, transaction) in batch.into_iter().enumerate() {
            match self.check(&transaction) {
                Ok(()) => asked.push((transaction.partition, (number, transaction))),
                Err(refusal) => answers[number] = Some(Err(refusal)),
            }
        }
        let groups = self.groups(asked, CALL_MAX).into_iter();
        let calls = groups.map(|group| self.commit_group(group));
        for (number, answer) in join_all(calls).await.into_iter().flatten() {
            answers[number] = Some(answer);
        }
        let missing = || Err(CommitError::Store(corrupt("a transaction was not answered")));
        let answers = answers.into_iter();
        answers.map(|answer| answer.unwrap_or_else(missing)).collect()
    }

    fn check(&self, transaction: &Transaction) -> Result<(), CommitError> {
        transaction.check()?;
        if transaction.partition.index >= self.counts.count(Family::Flow) {
            return Err(CommitError::Malformed("not a partition of this store"));
        }
        Ok(())
    }

    async fn commit_group(&self, group: Vec<(Partition, Numbered)>) -> Vec<(usize, Answer)> {
        let (mut packed, mut queues) = (Vec::with_capacity(group.len()), Queues::default());
        let mut transactions = Pack::default();
        for (_, (_, transaction)) in &group {
            packed.push(Packed::write(transaction, &mut transactions, &mut queues));
        }
        let mut ask = self.ask(2);
        ask.list(group.len()).append(transactions);
        queues.write(&mut ask);
        let answers = match self.call(Function::Commit, group[0].0, ask).await {
            Ok(reply) => self.committed_all(&group, &packed, &queues, reply),
            Err(error) => Err(error),
        };
        let numbers = group.iter().map(|(_, (number, _))| *number);
        match answers {
            Ok(answers) => numbers.zip(answers).collect(),
            Err(error) => numbers
                .map(|number| (number, Err(CommitError::Store(error.clone()))))
                .collect(),
        }
    }

    fn committed_all(
        &self,
        group: &[(Partition, Numbered)],
        packed: &[Packed],
        queues: &Queues,
        mut reply: Reply,
    ) -> ff_backend::Result<Vec<Answer>> {
        self.was_told(reply.now);
        let answers = list(std::mem::replace(&mut reply.answer, Value::Nil))?;
        let each = group.iter().zip(packed).zip(answers);
        let each = each.map(|(((_, (_, transaction)), packed), answer)| {
            let committed = committed(transaction, answer, &reply)?;
            self.remember_queues(transaction.partition, packed, queues, committed.1);
            Ok(committed.0)
        });
        Ok(each.collect())
    }

    fn remember_queues(&self, partition: Partition, packed: &Packed, queues: &Queues, seen: Moment) {
        if packed.entered.is_empty() {
            return;
        }
        let mut filled = self.filled_queues();
        for (queue, score) in &packed.entered {
            let (key, QueueName { set, lane, .. }) = queues.get(*queue);
            let head = score.parse().unwrap_or(f64::MIN);
            filled.entered(lane, (partition, set.clone()), &key.signature, head, seen);
        }
    }
}

/// What became of one transaction, and when.
fn committed(transaction: &Transaction, answer: Value, reply: &Reply) -> Result<(Committed, Moment), CommitError> {
    let values = list(answer)?;
    let mut values = values.iter();
    let mut next = || values.next().ok_or_else(|| corrupt("an answer is too short"));
    match text(next()?)? {
        "ok" => {
            let moment = Moment {
                generation: reply.generation.0,
                changes: number(next()?)?,
            };
            let moved = transaction.increments.iter();
            let counters = moved.map(|(key, _)| Ok((*key, number(next()?)?)));
            let counters = counters.collect::<ff_backend::Result<_>>()?;
            let now = reply.now;
            Ok((Committed { now, counters }, moment))
        }
        "conflict" => {
            let nth: usize = number(next()?)?;
            let found = parse_version(text(next()?)?)?;
            // Lua counts from 1.
            let expectation = nth.checked_sub(1).and_then(|nth| transaction.expectations().nth(nth));
            let (_, key, _) = expectation.ok_or_else(|| corrupt("a conflict of nothing"))?;
            Err(CommitError::Conflict { key, found })
        }
        "too_late" => Err(CommitError::TooLate { now: reply.now }),
        "too_many_queues" => Err(CommitError::TooManyQueues),
        "generation" => Err(CommitError::OtherGeneration),
        "unreadable" => Err(corrupt(text(next()?)?).into()),
        "torn" => {
            let why = text(next()?)?;
            let partition = transaction.partition;
            tracing::error!(%partition, %why, "a transaction could not be written whole; the audit mends what it can");
            Err(CommitError::Store(Error::Unknown(why.to_owned())))
        }
        other => Err(corrupt(format!("answer {other:?}")).into()),
    }
}
