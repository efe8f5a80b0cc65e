//! The moves budget rules are made of.

use crate::record::{Budget, Withdrawal};
use crate::time::{Duration, Timestamp};

/// A periodic reset that is due happens; the next one is the first after `now` in the old rhythm.
pub(super) fn settle(budget: &mut Budget, now: Timestamp) {
    let (Some(interval), Some(due)) = (budget.reset_interval, budget.next_reset_at) else {
        return;
    };
    if !due.has_come(now) {
        return;
    }
    let intervals = now.since(due).as_millis() / interval.as_millis() + 1;
    budget.next_reset_at = Some(due + Duration::from_millis(intervals.saturating_mul(interval.as_millis())));
    start_again(budget, now);
}

/// Nothing is spent any more.
pub(super) fn start_again(budget: &mut Budget, now: Timestamp) {
    budget.usage.clear();
    end_stop_if_cured(budget, now);
    move_generation(budget, now);
}

/// The order to stop what runs ends with the breach it came of.
pub(super) fn end_stop_if_cured(budget: &mut Budget, now: Timestamp) {
    if budget.breached_by().is_none() {
        end_stop(budget, now);
    }
}

/// Nothing more is asked to stop, and whoever was asked may go on.
pub(super) fn end_stop(budget: &mut Budget, now: Timestamp) {
    if let Some(stop) = budget.stop.take() {
        budget.withdrawal = Some(Withdrawal {
            generation: stop.generation,
            since: now,
        });
    }
}

/// Blocked work may have become admissible.
pub(super) fn move_generation(budget: &mut Budget, now: Timestamp) {
    budget.generation += 1;
    budget.generation_at = now;
    note_closing(budget, now);
}

/// Remembers since when nothing is admitted. Nobody says so at the very moment: whoever changes the budget next does.
pub(super) fn note_closing(budget: &mut Budget, now: Timestamp) {
    let is_closed = budget.deleted_at.is_none() && budget.closed_by().is_some();
    budget.closed_at = is_closed.then(|| budget.closed_at.unwrap_or(now));
}
