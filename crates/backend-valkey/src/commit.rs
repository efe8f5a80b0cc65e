//! Transactions, packed for the library; many in one call, in one call each per partition of a cluster.

mod pack;

use ff_backend::Error;
use ff_backend::queues::Moment;
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_core::partition::{Family, Partition};
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

impl Shared {
    /// Commits each transaction or leaves no trace of it.
    pub(crate) async fn commit(&self, batch: Vec<Transaction>) -> Vec<Answer> {
        let checked: Vec<_> = batch.iter().map(|transaction| self.check(transaction)).collect();
        let asked = batch.into_iter().zip(&checked).filter(|(_, checked)| checked.is_ok());
        let asked = asked.map(|(transaction, _)| (transaction.partition, transaction));
        let answers = self.in_groups(asked, CALL_MAX, |group| self.commit_group(group)).await;
        let mut answers = answers.into_iter();
        let answer = |checked: Result<(), CommitError>| {
            checked?;
            answers.next().expect("each one is answered")?
        };
        checked.into_iter().map(answer).collect()
    }

    fn check(&self, transaction: &Transaction) -> Result<(), CommitError> {
        transaction.check()?;
        if transaction.partition.index >= self.counts.count(Family::Flow) {
            return Err(CommitError::Malformed("not a partition of this store"));
        }
        Ok(())
    }

    async fn commit_group(&self, group: Vec<(Partition, Transaction)>) -> ff_backend::Result<Vec<Answer>> {
        let (mut packed, mut queues) = (Vec::with_capacity(group.len()), Queues::default());
        let mut transactions = Pack::default();
        for (_, transaction) in &group {
            packed.push(Packed::write(transaction, &mut transactions, &mut queues));
        }
        let mut ask = self.ask(2);
        ask.list(group.len()).append(transactions);
        queues.write(&mut ask);
        let mut reply = self.call(Function::COMMIT, group[0].0, ask).await?;
        let answers = std::mem::take(&mut reply.answer);
        let each = group.iter().zip(packed).zip(answers);
        let each = each.map(|(((partition, transaction), packed), answer)| {
            let (committed, seen) = committed(transaction, answer, &reply)?;
            self.remember_queues(*partition, &packed, &queues, seen);
            Ok(committed)
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
            let moment = reply.moment(number(next()?)?);
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
