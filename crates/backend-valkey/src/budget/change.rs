//! What the rules make of a budget, written if it is still the one that was read.

use ff_backend::Result;
use ff_backend::budget::{BudgetAnswer as Answer, BudgetCall as Call, BudgetReply};
use ff_core::error::Rejection;
use ff_core::id::BudgetId;
use ff_core::machine::budget::{self, check_deltas};
use ff_core::record::Budget;
use ff_core::time::Timestamp;
use redis::Value;

use super::fields::encode;
use super::report::Found;
use super::{BUDGETS, Numbered};
use crate::error::corrupt;
use crate::library::Function;
use crate::limit::{Fields, Put, TRIES_MAX, contended, member, pause};
use crate::shared::Shared;

/// What a call came to by the rules.
type Answered = std::result::Result<Answer, Rejection>;

impl Shared {
    /// Answers calls about one budget, one after the other, in one step.
    pub(super) async fn change_budget(&self, id: BudgetId, calls: Vec<(usize, Call)>) -> Vec<Numbered> {
        let (numbers, calls): (Vec<usize>, Vec<Call>) = calls.into_iter().unzip();
        match self.work_out_budget(id, &calls).await {
            Ok((now, answers)) => {
                let replies = answers.into_iter().map(|answer| Ok(BudgetReply { now, answer }));
                numbers.into_iter().zip(replies).collect()
            }
            Err(error) => numbers.into_iter().map(|number| (number, Err(error.clone()))).collect(),
        }
    }

    async fn work_out_budget(&self, id: BudgetId, calls: &[Call]) -> Result<(Timestamp, Vec<Answered>)> {
        let mut found = self
            .read_budgets([id].into_iter())
            .await?
            .pop()
            .ok_or_else(|| corrupt("no answer"))?;
        for tries in 0..TRIES_MAX {
            let mut slot = found.budget.clone();
            let answers = calls
                .iter()
                .map(|call| answer(&mut slot, id, call, found.now))
                .collect();
            let Some(after) = slot.filter(|after| found.budget.as_ref() != Some(after)) else {
                return Ok((found.now, answers));
            };
            match self.put_budget(&found, &after).await? {
                None => return Ok((found.now, answers)),
                Some(other) => found = other,
            }
            pause(tries).await;
        }
        Err(contended(&format!("budget {id}")))
    }

    /// Writes a budget that changed; answers the one that is there if it has another revision.
    async fn put_budget(&self, found: &Found, after: &Budget) -> Result<Option<Found>> {
        let put = Put {
            function: Function::PutBudget,
            partition: self.counts.of_budget(after.id),
            name: format!("budget:{}", after.id),
            revision: &found.revision,
            before: found.budget.as_ref().map_or_else(Fields::default, encode),
            after: encode(after),
            set: BUDGETS,
            member: member(&after.namespace, after.id),
        };
        let reply = self.put_limit(put).await?;
        match reply.answer {
            Value::Nil => Ok(None),
            other => Found::parse(after.id, other, reply.now).map(Some),
        }
    }
}

fn answer(slot: &mut Option<Budget>, id: BudgetId, call: &Call, now: Timestamp) -> Answered {
    if let Call::Create { command, .. } = call {
        return budget::create(slot, id, command, now).map(Answer::Created);
    }
    let budget = slot.as_mut().ok_or_else(|| budget::not_found(id))?;
    match call {
        Call::Get(_) => Ok(Answer::Budget(Box::new(budget::view(budget, now)))),
        Call::Update { command, .. } => budget::update_limits(budget, command, now).map(Answer::Updated),
        Call::Reset { command, .. } => budget::reset(budget, command, now).map(Answer::Reset),
        Call::Delete(_) => Ok(Answer::Deleted(budget::delete(budget, now))),
        Call::Advance(_) => Ok(Answer::Work(budget::advance(budget, now))),
        other => answer_quietly(budget, other),
    }
}

/// The calls that answer nothing, or a refusal.
fn answer_quietly(budget: &mut Budget, call: &Call) -> Answered {
    match call {
        Call::Stopped { began_at, .. } => budget::stopped(budget, *began_at),
        Call::Withdrawn { generation, .. } => budget::withdrawn(budget, *generation),
        Call::MarkBlocked { partition, .. } => budget::mark_blocked(budget, *partition),
        Call::ForgetBlocked { partition, round, .. } => budget::forget_blocked(budget, *partition, *round),
        Call::Report { report, .. } => {
            // The library takes every other report.
            check_deltas(&report.deltas)?;
        }
        other => unreachable!("{other:?} is not answered by the rules"),
    }
    Ok(Answer::Done)
}
