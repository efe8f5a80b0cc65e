//! The rules of reports as one atomic step each. No store does it this way; what accounts come to is compared with it.

use std::collections::BTreeMap;

use super::settle::settle;
use super::spend::judge;
use crate::command::budget::Reported;
use crate::error::Rejection;
use crate::id::EffectId;
use crate::name::Dimension;
use crate::partition::Partition;
use crate::record::{AMOUNT_MAX, Breach, BreachKind, Budget, DIMENSIONS_MAX, OnHardLimit, StopOrder, UsageIdentity};
use crate::time::Timestamp;

pub use super::*;

/// What the store must remember in the same atomic step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remember {
    /// The identity to recognise.
    pub identity: UsageIdentity,
    /// The effect that carried it.
    pub effect_id: Option<EffectId>,
    /// From this moment on it may be forgotten.
    pub until: Timestamp,
}

/// What a usage report came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// For the caller.
    pub outcome: Reported,
    /// For the store, in the same atomic step.
    pub remember: Vec<Remember>,
}

/// Adds usage in all dimensions or in none. `seen`: for each of the report's names that is remembered, the effect that was
/// counted under it.
///
/// The very same effect is counted once and answered as the budget stands: its first answer was lost, and a breach with it.
/// Any other report under a remembered name is `AlreadyApplied`.
///
/// Usage is always recorded, because it is spent: passing a limit is an answer, not a refusal. Dimensions the budget has
/// no limits for are counted as well, as long as there are not too many of them. A deleted budget answers `Gone`, so that
/// an outbox can be emptied; callers who named it themselves are told `budget_not_found`.
pub fn report_usage(
    budget: &mut Budget,
    report: &UsageReport,
    seen: &[Option<EffectId>],
    now: Timestamp,
) -> Result<Report, Rejection> {
    check_deltas(&report.deltas)?;
    let unrecorded = |outcome| Report {
        outcome,
        remember: Vec::new(),
    };
    if budget.deleted_at.is_some() {
        return Ok(unrecorded(Reported::Gone));
    }
    let is_sent_again = report.effect_id.is_some() && seen.contains(&report.effect_id);
    if !is_sent_again && !seen.is_empty() {
        return Ok(unrecorded(Reported::AlreadyApplied));
    }
    settle(budget, now);
    if is_sent_again {
        return Ok(unrecorded(judge(budget, &report.deltas)));
    }
    add_usage(budget, &report.deltas);
    let outcome = judge(budget, &report.deltas);
    note_breach(budget, &outcome, now);
    let remember = |(identity, window)| Remember {
        identity,
        effect_id: report.effect_id,
        until: now + window,
    };
    let remember = report.names().map(remember).collect();
    Ok(Report { outcome, remember })
}

fn add_usage(budget: &mut Budget, deltas: &BTreeMap<Dimension, u64>) {
    for (dimension, delta) in deltas {
        // What has a limit always counts; names invented by reporters may not grow the record without end.
        let counted = budget.dimensions.contains_key(dimension) || budget.usage.contains_key(dimension);
        if counted || budget.usage.len() < DIMENSIONS_MAX {
            let total = budget.usage.entry(dimension.clone()).or_default();
            *total = total.saturating_add(*delta).min(AMOUNT_MAX);
        }
    }
}

fn note_breach(budget: &mut Budget, outcome: &Reported, now: Timestamp) {
    let (kind, excess) = match outcome {
        Reported::SoftBreach { first, .. } => (BreachKind::Soft, first.clone()),
        Reported::HardBreach { first, .. } => (BreachKind::Hard, first.clone()),
        Reported::Ok | Reported::AlreadyApplied | Reported::Gone => return,
    };
    match kind {
        BreachKind::Soft => budget.soft_breaches += 1,
        BreachKind::Hard => budget.hard_breaches += 1,
    }
    if kind == BreachKind::Hard && budget.on_hard_limit == OnHardLimit::CancelActive && budget.stop.is_none() {
        budget.stop = Some(StopOrder {
            since: now,
            generation: budget.generation,
            next_sweep_at: Some(now),
        });
    }
    budget.last_breach = Some(Breach { excess, kind, at: now });
}

/// Work is about to be blocked by this budget in `partition`.
pub fn mark_blocked(budget: &mut Budget, partition: Partition) {
    budget.blocked_in.mark(partition, budget.generation);
}

/// The release that began with generation `round` left nothing in `partition`.
pub fn forget_blocked(budget: &mut Budget, partition: Partition, round: u64) {
    budget.blocked_in.forget(partition, round);
}
