//! What steps cost, and what happens when a budget is used up.

use std::sync::{Mutex, PoisonError};

use ff_core::command::steps::{BudgetStanding, BudgetStatus, StepUsage};
use ff_core::id::BudgetId;
use ff_core::name::{Dimension, StepKey};

use super::Ctx;
use super::gate::Pause;
use crate::task_error::TaskError;

/// What a step does when a budget it charges is used up, instead of what the budget and the policy say.
///
/// Unless said: a task whose policy names the budget is given back and waits until there is more of it; any other fails, with
/// category `budget`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnBreach {
    /// The step fails, with category `budget`.
    Fail,
    /// The step runs all the same, and is charged.
    Ignore,
}

/// Budgets that are used up, as far as the steps of this run were told.
#[derive(Debug, Default)]
pub(crate) struct Closed(Mutex<Vec<BudgetStanding>>);

impl Closed {
    /// Takes over how budgets stand.
    pub(super) fn note(&self, standings: &[BudgetStanding]) {
        let mut closed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for standing in standings {
            closed.retain(|before| before.budget_id != standing.budget_id);
            if standing.closed {
                closed.push(standing.clone());
            }
        }
    }

    /// One that is used up; of several, one that the task could wait for.
    fn first(&self) -> Option<BudgetStanding> {
        let closed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        closed
            .iter()
            .find(|standing| standing.parks)
            .or_else(|| closed.first())
            .cloned()
    }
}

impl Ctx {
    /// A body that costs something is to begin. It does not while a budget is used up.
    pub(super) async fn may_spend(&self, key: &StepKey, on_breach: Option<OnBreach>) -> Result<(), TaskError> {
        let Some(standing) = self.run.closed.first() else {
            return Ok(());
        };
        match on_breach {
            Some(OnBreach::Ignore) => Ok(()),
            None if standing.parks => self.pause_with(None, Pause::Release).await,
            Some(OnBreach::Fail) | None => Err(TaskError::category(
                "budget",
                format!("step {key} did not run: budget {} is used up", standing.budget_id),
            )),
        }
    }

    /// Takes over how the budgets of a recorded step stand.
    pub(super) fn note_budgets(&self, key: &StepKey, standings: &[BudgetStanding]) -> Result<(), TaskError> {
        self.run.closed.note(standings);
        let missing = standings
            .iter()
            .find(|standing| standing.status == BudgetStatus::NotFound);
        missing.map_or(Ok(()), |standing| {
            let told = format!(
                "step {key} is recorded, but there is no budget {} to charge",
                standing.budget_id
            );
            Err(TaskError::permanent(told))
        })
    }

    /// Charges a budget, once, whatever happens to the handler: a step of its own.
    pub async fn usage<K: AsRef<str>>(
        &self,
        name: &str,
        budget: BudgetId,
        deltas: impl IntoIterator<Item = (K, u64)>,
    ) -> Result<(), TaskError> {
        let deltas: Vec<(String, u64)> = deltas
            .into_iter()
            .map(|(name, spent)| (name.as_ref().to_owned(), spent))
            .collect();
        self.step(name, |_| async { Ok(()) })
            .charge(budget, move |()| deltas)
            .await
    }
}

/// What a step cost, as it is recorded.
pub(super) fn usage_of<K: AsRef<str>>(
    budget_id: BudgetId,
    deltas: impl IntoIterator<Item = (K, u64)>,
) -> Result<StepUsage, TaskError> {
    let named = deltas
        .into_iter()
        .map(|(name, spent)| Ok((Dimension::parse(name)?, spent)));
    let deltas: Result<_, ff_core::error::Rejection> = named.collect();
    let deltas = deltas.map_err(|refusal| TaskError::permanent(format!("what a step cost: {refusal}")))?;
    Ok(StepUsage { budget_id, deltas })
}
