//! What steps cost: on the attempt and in the outbox with the commit that records them, one effect for each budget.

use std::collections::BTreeMap;

use super::add_deltas;
use crate::command::steps::{RecordedStep, StepReport, StepStatus};
use crate::digest::Digest;
use crate::error::{Code, Rejection};
use crate::id::{BudgetId, EffectId, ExecutionId};
use crate::limits::STEP_BUDGETS_PER_CALL_MAX;
use crate::machine::budget::check_deltas;
use crate::machine::change::Change;
use crate::machine::lease::charge_attempt;
use crate::name::Dimension;
use crate::record::UsageIdentity;

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
    let first_seq = new().map(|(_, recorded)| recorded.seq).min().unwrap_or_default();
    for (budget_id, deltas) in cost {
        check_deltas(&deltas)?;
        let effect_id = effect_id(change.after.id, first_seq, budget_id, &deltas);
        charge_attempt(
            change,
            budget_id,
            &deltas,
            (effect_id, UsageIdentity::Effect(effect_id)),
        )?;
    }
    Ok(())
}

/// The same steps recorded once more after a store lost them are the same effect, which the budget counts once.
fn effect_id(id: ExecutionId, seq: u64, budget_id: BudgetId, deltas: &BTreeMap<Dimension, u64>) -> EffectId {
    let amounts = deltas.iter().map(|(dimension, delta)| format!("{dimension}={delta}"));
    let told = [id.to_string(), seq.to_string(), budget_id.to_string()];
    EffectId::from_uuid(Digest::of("cost of steps", told.into_iter().chain(amounts)).uuid())
}
