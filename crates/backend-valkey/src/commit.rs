//! Transactions, packed for the library; many in one call, in one call each per partition of a cluster.

mod pack;
pub(crate) mod run;

use ff_backend::Error;
use ff_backend::queues::Moment;
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_core::partition::{Family, Partition};
use redis::Value;

use self::pack::{Moved, Queues};
use self::run::Sorted;
use crate::call::Reply;
use crate::error::corrupt;
use crate::keys::QueueName;
use crate::library::Function;
use crate::record::parse_version;
use crate::reply::{exactly, list, number, text};
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

    /// Commits what can be in runs so, and everything else by itself; what a run could not take comes again by itself.
    async fn commit_group(&self, group: Vec<(Partition, Transaction)>) -> ff_backend::Result<Vec<Answer>> {
        let group: Vec<&Transaction> = group.iter().map(|(_, transaction)| transaction).collect();
        let mut queues = Queues::default();
        let sorted = Sorted::of(&group, &mut queues);
        let mut answers = self.commit_sorted(&group, &sorted, queues).await?;
        let again: Vec<usize> = (0..group.len()).filter(|number| answers[*number].is_none()).collect();
        if !again.is_empty() {
            let others = Sorted::without_runs(again);
            let repeated = self.commit_sorted(&group, &others, Queues::default()).await?;
            answers
                .iter_mut()
                .zip(repeated)
                .for_each(|(answer, repeated)| *answer = answer.take().or(repeated));
        }
        let answer = |answer: Option<Answer>| answer.ok_or_else(|| corrupt("not everything was answered"));
        answers.into_iter().map(answer).collect()
    }

    /// What becomes of each that is among the sorted; nothing for those whose run was not begun.
    async fn commit_sorted(
        &self,
        group: &[&Transaction],
        sorted: &Sorted<'_>,
        mut queues: Queues,
    ) -> ff_backend::Result<Vec<Option<Answer>>> {
        let mut ask = self
            .ask(3)
            .with_room(group.iter().map(|transaction| room(transaction)).sum());
        let mut entered = Vec::with_capacity(sorted.others.len());
        ask.each(sorted.others.iter(), |pack, number| {
            entered.push(pack::write(group[*number], pack, &mut queues));
        });
        ask.each(sorted.runs.iter(), |pack, run| run.write(pack, &queues));
        queues.write(&mut ask);
        let mut reply = self.call(Function::COMMIT, group[0].partition, ask).await?;
        let [others, runs] = exactly(std::mem::take(&mut reply.answer))?;
        let mut answers: Vec<Option<Answer>> = group.iter().map(|_| None).collect();
        let each = sorted.others.iter().zip(entered).zip(list(others)?);
        for ((number, entered), answer) in each {
            answers[*number] = Some(self.answered(group[*number], &entered, &queues, &list(answer)?, &reply));
        }
        for (run, answer) in sorted.runs.iter().zip(list(runs)?) {
            let answer = list(answer)?;
            if matches!(answer.first().map(text), Some(Ok("again"))) {
                continue;
            }
            for (number, entered) in run.numbers() {
                let entered = entered.as_slice();
                answers[number] = Some(self.answered(group[number], entered, &queues, &answer, &reply));
            }
        }
        Ok(answers)
    }

    /// What became of one transaction. The queues it entered are remembered.
    fn answered(
        &self,
        transaction: &Transaction,
        entered: &[(usize, i64)],
        queues: &Queues,
        answer: &[Value],
        reply: &Reply,
    ) -> Answer {
        let (committed, seen) = committed(transaction, answer, reply)?;
        if !entered.is_empty() {
            let mut filled = self.filled_queues();
            for (queue, score) in entered {
                #[expect(clippy::cast_precision_loss, reason = "scores are below 2^53")]
                let score = *score as f64;
                let (key, QueueName { set, lane, .. }) = queues.get(*queue);
                filled.entered(lane, (transaction.partition, set.clone()), &key.signature, score, seen);
            }
        }
        Ok(committed)
    }
}

/// About how many bytes a transaction has when it is packed.
fn room(transaction: &Transaction) -> usize {
    let values = transaction.puts.len() + transaction.history.len() + transaction.increments.len();
    200 + 700 * values
}

/// What became of one transaction, and when.
fn committed(transaction: &Transaction, answer: &[Value], reply: &Reply) -> Result<(Committed, Moment), CommitError> {
    let mut values = answer.iter();
    let mut next = || values.next().ok_or_else(|| corrupt("an answer is too short"));
    match text(next()?)? {
        "ok" => {
            let moment = reply.moment(number(next()?)?);
            let moved = Moved::by(transaction);
            let counters = moved.keys().map(|key| Ok((key, number(next()?)?)));
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
