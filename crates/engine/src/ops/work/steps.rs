//! record_steps: recorded with what it cost, then the budgets are told, then it is settled with their answers.
//!
//! A step is created as a record that must not exist, so the first try reads none: whether a name is taken, the commit finds
//! out, and only then are the steps of these names read.

use std::collections::BTreeSet;

use ff_backend::limits::{self, Failed};
use ff_core::command::steps::{BudgetStanding, RecordSteps, RecordedSteps, StepReport};
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::{BudgetId, EffectId, ExecutionId};
use ff_core::machine::budget::{self, Found, UsageReport};
use ff_core::machine::outbox::{Arrived, report_of};
use ff_core::machine::steps;
use ff_core::name::Dimension;
use ff_core::record::Execution;
use futures::future::join_all;

use super::held::budgets_of;
use super::{Held, settle_outbox};
use crate::engine::Engine;
use crate::transact::Decision;

/// The execution stays locked until its budgets have answered: no pump sends the same cost at the same time.
pub(crate) async fn record_steps(engine: &Engine, command: On<ExecutionId, RecordSteps>) -> Result<RecordedSteps> {
    let On { id, command } = command;
    engine.check_id(id)?;
    let held = Held::recording(engine, id, &command.steps, None).await?;
    let locked = engine.lock_remembered(id).await;
    let decide = || async {
        let snapshot = locked.look(held.load()).await?;
        let execution = engine.visible(&snapshot, id)?;
        let context = held.context(engine, &snapshot, execution);
        let decided = steps::record(execution, &command, &context)?;
        let after = decided.draft.execution(id).unwrap_or(execution).clone();
        Ok(Decision::Commit(snapshot, decided.map(|recorded| (recorded, after))))
    };
    let (mut recorded, after) = locked.transact(decide).await?;
    if budgets_of(&command.steps).next().is_none() {
        return Ok(recorded);
    }
    let (standings, arrived) = ask_budgets(engine, &after, &command.steps).await?;
    recorded.budgets = standings;
    if !arrived.is_empty() {
        // Failing to note that fails nobody: the pump sends it again, and the budget recognises it.
        if let Err(refusal) = settle_outbox(&locked.starting_from(engine.cached(id)), id, &arrived).await {
            tracing::debug!(execution_id = %id, %refusal, "a cost that arrived stays in the outbox for the pump");
        }
    }
    Ok(recorded)
}

/// Tells the budgets of a call what is in the outbox for them, and asks each how it stands.
async fn ask_budgets(
    engine: &Engine,
    execution: &Execution,
    steps: &[StepReport],
) -> Result<(Vec<BudgetStanding>, Vec<Arrived>)> {
    let budgets: BTreeSet<BudgetId> = budgets_of(steps).collect();
    let asked = budgets.iter().map(|budget_id| ask(engine, execution, *budget_id));
    let (mut standings, mut arrived) = (Vec::new(), Vec::new());
    for (budget_id, answer) in budgets.iter().zip(join_all(asked).await) {
        let (found, sent) = answer;
        arrived.extend(sent);
        let charged = dimensions_of(steps, *budget_id);
        standings.push(budget::standing(execution, *budget_id, &found, &charged));
    }
    Ok((standings, arrived))
}

/// Sends what is in the outbox for a budget, and reads it right after: only what it stands at then says whether it is closed.
async fn ask(engine: &Engine, execution: &Execution, budget_id: BudgetId) -> (Found, Vec<Arrived>) {
    let effects = execution.outbox.iter();
    let (sent, reports): (Vec<EffectId>, Vec<UsageReport>) = effects
        .filter_map(|effect| match report_of(execution, effect) {
            Some((of, report)) if of == budget_id => Some((effect.id, report)),
            _ => None,
        })
        .unzip();
    let charged = match limits::budgets::report(engine.store(), budget_id, &reports, true).await {
        Ok(charged) => charged,
        Err(Failed::Refused(refusal)) if refusal.code == Code::BudgetNotFound => return (Found::Nothing, Vec::new()),
        // What did not arrive stays in the outbox for the pump.
        Err(_) => return (Found::Unreachable, Vec::new()),
    };
    let arrived = sent
        .into_iter()
        .zip(charged.reported)
        .map(|(effect_id, reported)| Arrived {
            effect_id,
            reported: Some(reported),
        });
    let found = charged
        .stands
        .map_or(Found::Nothing, |view| Found::Budget(Box::new(view)));
    (found, arrived.collect())
}

fn dimensions_of(steps: &[StepReport], budget_id: BudgetId) -> BTreeSet<&Dimension> {
    let usage = steps.iter().flat_map(|step| &step.usage);
    let own = usage.filter(|usage| usage.budget_id == budget_id);
    own.flat_map(|usage| usage.deltas.keys()).collect()
}
