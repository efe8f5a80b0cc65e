//! What time does to a budget, and what the budget then means for work that waits or runs.

use super::settle::{move_generation, note_closing, settle};
use crate::id::BudgetId;
use crate::limits::{GRANT_TTL_MAX, STOP_SWEEP_INTERVAL};
use crate::machine::admission::{Headroom, Release, describe_excess};
use crate::record::{Budget, StopOrder};
use crate::time::{Timestamp, earliest};

/// The moment a budget next needs attention. `None`: only a command can change it.
pub fn due_at(budget: &Budget) -> Option<Timestamp> {
    let release = releasable(budget).then_some(budget.generation_at);
    let stop = budget.stop.and_then(|stop| stop.next_sweep_at);
    let withdrawal = budget.withdrawal.map(|withdrawal| withdrawal.since);
    earliest([release, stop, withdrawal, budget.next_reset_at])
}

/// What the pump owes because of a budget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BudgetWork {
    /// Blocked work may go.
    pub release: Option<Release>,
    /// Running executions attached to it may go on as far as orders up to this generation asked them to stop; [`withdrawn`]
    /// is called when all were told.
    pub withdraw: Option<u64>,
    /// Running executions attached to it must stop; [`stopped`] is called when all were asked.
    pub stop: Option<Stop>,
}

/// A budget's order to stop what runs under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Which budget.
    pub budget_id: BudgetId,
    /// Which of its orders.
    pub generation: u64,
    /// Why, for a person.
    pub reason: String,
}

/// Applies what is due and says what that means for others.
pub fn advance(budget: &mut Budget, now: Timestamp) -> BudgetWork {
    settle(budget, now);
    note_closing(budget, now);
    let due = |stop: &StopOrder| stop.next_sweep_at.is_some_and(|at| at.has_come(now));
    let stop = budget.stop.filter(due).and_then(|stop| {
        Some(Stop {
            budget_id: budget.id,
            generation: stop.generation,
            reason: stop_reason(budget)?,
        })
    });
    let withdraw = budget.withdrawal.map(|withdrawal| withdrawal.generation);
    let release = releasable(budget).then(|| {
        // Whoever marks a partition from here on knows that this release may not have seen its work.
        move_generation(budget, now);
        Release {
            round: budget.generation,
            partitions: budget.blocked_in.partitions().collect(),
            room: Headroom::UNLIMITED,
        }
    });
    BudgetWork {
        release,
        withdraw,
        stop,
    }
}

/// Everything that ran at `began_at` was asked to stop. Leases admitted before the breach can appear until the longest
/// grant is over, so there are more looks until then. A sweep that began before the breach was of another one.
pub fn stopped(budget: &mut Budget, began_at: Timestamp) {
    if let Some(stop) = budget.stop.as_mut().filter(|stop| began_at >= stop.since) {
        let last_sweep_at = stop.since + GRANT_TTL_MAX;
        let next_sweep_at = last_sweep_at.min(began_at + STOP_SWEEP_INTERVAL);
        stop.next_sweep_at = (began_at < last_sweep_at).then_some(next_sweep_at);
    }
}

/// Everybody was told that orders up to this generation no longer stand.
pub fn withdrawn(budget: &mut Budget, generation: u64) {
    budget
        .withdrawal
        .take_if(|withdrawal| withdrawal.generation <= generation);
}

/// Work waits for the budget and nothing is in its way any more.
fn releasable(budget: &Budget) -> bool {
    let closed = budget.deleted_at.is_none() && budget.closed_by().is_some();
    !closed && !budget.blocked_in.is_empty()
}

/// Why running executions are being stopped, while they are.
pub(super) fn stop_reason(budget: &Budget) -> Option<String> {
    budget.stop?;
    let excess = budget.breached_by()?;
    Some(format!(
        "{} is above its hard limit",
        describe_excess(budget.id, &excess)
    ))
}
