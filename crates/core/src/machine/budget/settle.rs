//! The moves budget rules are made of.

use crate::record::Budget;
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
    end_stop_if_cured(budget);
    move_generation(budget, now);
}

/// The order to stop what runs ends with the breach it came of.
pub(super) fn end_stop_if_cured(budget: &mut Budget) {
    if budget.breached_by().is_none() {
        budget.stop = None;
    }
}

/// Blocked work may have become admissible.
pub(super) fn move_generation(budget: &mut Budget, now: Timestamp) {
    budget.generation += 1;
    budget.generation_at = now;
}
