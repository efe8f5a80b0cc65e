//! How a budget is read, and what it says to who was charged.

use std::collections::BTreeSet;

use super::define::check_exists;
use super::due::stop_reason;
use super::settle::settle;
use crate::command::budget::{BudgetState, BudgetView, DimensionView};
use crate::command::steps::{BudgetStanding, BudgetStatus};
use crate::error::Rejection;
use crate::id::BudgetId;
use crate::name::Dimension;
use crate::record::{Budget, Execution};
use crate::time::Timestamp;
use crate::view::HowMany;

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
        closed_since: budget.closed_at,
        waiting: HowMany::default(),
        state,
    }
}

/// What was found under the id of a budget.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// A budget.
    Budget(Box<BudgetView>),
    /// There is none.
    Nothing,
    /// Nobody could be asked.
    Unreachable,
}

/// How a budget stands for an execution that was charged to it in these dimensions. One of another namespace is not there.
pub fn standing(
    execution: &Execution,
    budget_id: BudgetId,
    found: &Found,
    charged: &BTreeSet<&Dimension>,
) -> BudgetStanding {
    let definition = &execution.definition;
    let parks = definition.policy.budget_ids.contains(&budget_id);
    let open = |status| BudgetStanding {
        budget_id,
        status,
        closed: false,
        parks,
        on_hard_limit: None,
    };
    match found {
        Found::Unreachable => open(BudgetStatus::Pending),
        Found::Budget(view) if view.namespace == definition.namespace => BudgetStanding {
            closed: matches!(view.state, BudgetState::Closed(_)),
            on_hard_limit: Some(view.on_hard_limit),
            ..open(status(view, charged))
        },
        Found::Budget(_) | Found::Nothing => open(BudgetStatus::NotFound),
    }
}

fn status(view: &BudgetView, charged: &BTreeSet<&Dimension>) -> BudgetStatus {
    if view.state == BudgetState::Deleted {
        return BudgetStatus::Gone;
    }
    let charged = || charged.iter().filter_map(|name| view.dimensions.get(*name));
    let is_above = |limit: Option<u64>, usage: u64| limit.is_some_and(|limit| usage > limit);
    if charged().any(|dimension| is_above(dimension.limits.hard, dimension.usage)) {
        return BudgetStatus::Hard;
    }
    match charged().any(|dimension| is_above(dimension.limits.soft, dimension.usage)) {
        true => BudgetStatus::Soft,
        false => BudgetStatus::Ok,
    }
}
