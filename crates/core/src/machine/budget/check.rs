//! What a budget, and a report to it, may look like.

use std::collections::BTreeMap;

use crate::command::budget::CreateBudget;
use crate::error::{Code, Rejection};
use crate::name::{Dimension, NAME_BYTES_MAX};
use crate::record::{AMOUNT_MAX, DIMENSIONS_MAX, Limits};
use crate::time::Duration;

/// Shortest interval between periodic resets.
pub const RESET_INTERVAL_MIN: Duration = Duration::from_secs(1);

/// Refuses deltas no budget takes. Whoever puts a report into an outbox asks here first: later nobody can be told.
pub fn check_deltas(deltas: &BTreeMap<Dimension, u64>) -> Result<(), Rejection> {
    if deltas.is_empty() {
        return Err(Code::InvalidInput.because("deltas is empty"));
    }
    check_dimension_count(deltas.len())?;
    for (dimension, delta) in deltas {
        check_amount(dimension, *delta)?;
    }
    Ok(())
}

pub(super) fn check_definition(command: &CreateBudget) -> Result<(), Rejection> {
    let scope = &command.scope;
    if scope.len() > NAME_BYTES_MAX || scope.chars().any(char::is_control) {
        let detail = format!("scope must have at most {NAME_BYTES_MAX} bytes and no control characters");
        return Err(Code::InvalidInput.because(detail));
    }
    if command
        .reset_interval
        .is_some_and(|interval| interval < RESET_INTERVAL_MIN)
    {
        return Err(Code::InvalidInput.because(format!("reset_interval_ms must be at least {RESET_INTERVAL_MIN}")));
    }
    check_dimensions(&command.dimensions)
}

pub(super) fn check_dimensions(dimensions: &BTreeMap<Dimension, Limits>) -> Result<(), Rejection> {
    check_dimension_count(dimensions.len())?;
    for (dimension, limits) in dimensions {
        for limit in [limits.soft, limits.hard].into_iter().flatten() {
            check_amount(dimension, limit)?;
        }
        if let (Some(soft), Some(hard)) = (limits.soft, limits.hard)
            && soft > hard
        {
            let detail = format!("dimension {dimension}: the soft limit {soft} is above the hard limit {hard}");
            return Err(Code::InvalidInput.because(detail));
        }
    }
    Ok(())
}

fn check_dimension_count(count: usize) -> Result<(), Rejection> {
    if count <= DIMENSIONS_MAX {
        return Ok(());
    }
    Err(Code::InvalidInput.because(format!("{count} dimensions are more than {DIMENSIONS_MAX}")))
}

fn check_amount(dimension: &Dimension, amount: u64) -> Result<(), Rejection> {
    if amount <= AMOUNT_MAX {
        return Ok(());
    }
    Err(Code::InvalidInput.because(format!("dimension {dimension}: {amount} is more than {AMOUNT_MAX}")))
}
