//! report_usage, as it arrives at the budget.

use std::collections::BTreeMap;

use super::check::check_deltas;
use super::report::{Remember, UsageReport};
use super::settle::settle;
use crate::command::budget::Reported;
use crate::error::Rejection;
use crate::id::EffectId;
use crate::name::Dimension;
use crate::record::{AMOUNT_MAX, Breach, BreachKind, Budget, DIMENSIONS_MAX, Excess, Limits, OnHardLimit, StopOrder};
use crate::time::Timestamp;

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

/// Compares the dimensions of a report with their limits: hard ones first.
pub(super) fn judge(budget: &Budget, deltas: &BTreeMap<Dimension, u64>) -> Reported {
    let passed = |limit_of: fn(&Limits) -> Option<u64>| -> Vec<Excess> {
        let excess = |dimension: &Dimension| {
            let limit = limit_of(budget.dimensions.get(dimension)?)?;
            let (dimension, current) = (dimension.clone(), budget.spent(dimension));
            (current > limit).then_some(Excess {
                dimension,
                current,
                limit,
            })
        };
        deltas.keys().filter_map(excess).collect()
    };
    let hard = passed(|limits| limits.hard);
    if let Some(first) = hard.first().cloned() {
        return Reported::HardBreach { first, all: hard };
    }
    let soft = passed(|limits| limits.soft);
    match soft.first().cloned() {
        Some(first) => Reported::SoftBreach { first, all: soft },
        None => Reported::Ok,
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
