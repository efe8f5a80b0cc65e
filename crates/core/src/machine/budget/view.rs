//! How a budget is read.

use super::define::check_exists;
use super::due::stop_reason;
use super::settle::settle;
use crate::command::budget::{BudgetState, BudgetView, DimensionView};
use crate::error::Rejection;
use crate::name::Dimension;
use crate::record::Budget;
use crate::time::Timestamp;

/// The budget for a reader.
pub fn get(budget: &Budget, now: Timestamp) -> Result<BudgetView, Rejection> {
    check_exists(budget)?;
    Ok(view(budget, now))
}

/// The budget as it is at `now`, deleted or not: admission must know about deleted ones.
pub fn view(budget: &Budget, now: Timestamp) -> BudgetView {
    let mut budget = budget.clone();
    settle(&mut budget, now);
    let state = match (budget.deleted_at, budget.closed_by()) {
        (Some(_), _) => BudgetState::Deleted,
        (None, Some(excess)) => BudgetState::Closed(excess),
        (None, None) => BudgetState::Open,
    };
    let names = budget.dimensions.keys().chain(budget.usage.keys());
    let dimension = |name: &Dimension| {
        let limits = budget.dimensions.get(name).copied().unwrap_or_default();
        let usage = budget.spent(name);
        (name.clone(), DimensionView { usage, limits })
    };
    BudgetView {
        budget_id: budget.id,
        dimensions: names.map(dimension).collect(),
        stop_pending: stop_reason(&budget),
        namespace: budget.namespace,
        scope: budget.scope,
        reset_interval: budget.reset_interval,
        on_hard_limit: budget.on_hard_limit,
        created_at: budget.created_at,
        next_reset_at: budget.next_reset_at,
        generation: budget.generation,
        soft_breaches: budget.soft_breaches,
        hard_breaches: budget.hard_breaches,
        last_breach: budget.last_breach,
        state,
    }
}
