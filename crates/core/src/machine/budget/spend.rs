//! What a report comes to, once it is counted.

use std::collections::BTreeMap;

use crate::command::budget::Reported;
use crate::name::Dimension;
use crate::record::{Budget, Excess, Limits};

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
