//! What steps cost: on the attempt and in the outbox with the commit that records them, one effect for each budget.

use std::collections::BTreeMap;

use super::add_deltas;
use crate::command::steps::{RecordedStep, StepReport, StepStatus};
use crate::digest::Digest;
use crate::error::{Code, Rejection};
use crate::id::{BudgetId, EffectId};
use crate::limits::STEP_BUDGETS_PER_CALL_MAX;
use crate::machine::budget::check_deltas;
use crate::machine::change::Change;
use crate::machine::lease::charge_attempt;
use crate::name::Dimension;
use crate::record::{Execution, UsageIdentity};

type Cost = BTreeMap<BudgetId, BTreeMap<Dimension, u64>>;

/// Charges what was recorded by this call; what was recorded before is paid.
pub(super) fn charge(
    change: &mut Change<'_>,
    reports: &[StepReport],
    recorded: &[RecordedStep],
) -> Result<(), Rejection> {
    let is_new = |(_, recorded): &(&StepReport, &RecordedStep)| recorded.status == StepStatus::Recorded;
    let new = || reports.iter().zip(recorded).filter(is_new);
    let mut cost = Cost::new();
    for (report, _) in new() {
        for (budget_id, deltas) in change.context.steps.charged(&report.usage) {
            add_deltas(cost.entry(budget_id).or_default(), &deltas);
        }
    }
    if cost.len() > STEP_BUDGETS_PER_CALL_MAX {
        let (budgets, max) = (cost.len(), STEP_BUDGETS_PER_CALL_MAX);
        return Err(Code::BatchTooLarge.because(format!("steps of one call charge {budgets} budgets, more than {max}")));
    }
    let steps: Vec<&StepReport> = new().map(|(report, _)| report).collect();
    for (budget_id, deltas) in cost {
        check_deltas(&deltas)?;
        let effect_id = effect_id(&change.after, &steps, budget_id, &deltas);
        charge_attempt(
            change,
            budget_id,
            &deltas,
            (effect_id, UsageIdentity::Effect(effect_id)),
        )?;
    }
    Ok(())
}

/// The same steps recorded once more after a store lost them are the same effect, which the budget counts once. Their places say
/// nothing: a store that lost others as well gives them other ones.
fn effect_id(
    execution: &Execution,
    steps: &[&StepReport],
    budget_id: BudgetId,
    deltas: &BTreeMap<Dimension, u64>,
) -> EffectId {
    let attempt = execution.attempt.as_ref().map(|attempt| attempt.id.to_string());
    let told = [
        execution.id.to_string(),
        attempt.unwrap_or_default(),
        budget_id.to_string(),
    ];
    let steps = steps.iter().map(|step| format!("{} {:?}", step.key, step.replaces_seq));
    let amounts = deltas.iter().map(|(dimension, delta)| format!("{dimension}={delta}"));
    EffectId::from_uuid(Digest::of("cost of steps", told.into_iter().chain(steps).chain(amounts)).uuid())
}
