//! create, update_limits, reset, delete.

use std::collections::BTreeMap;

use super::check::{check_definition, check_dimensions};
use super::settle::{end_stop, end_stop_if_cured, move_generation, note_closing, settle, start_again};
use crate::command::budget::{BudgetCreated, BudgetReset, CreateBudget, Deleted, ResetBudget, UpdateLimits, Updated};
use crate::digest::Digest;
use crate::error::{Code, Rejection};
use crate::id::BudgetId;
use crate::record::{BlockedIn, Budget, RequestLog, RequestOutcome};
use crate::time::{Duration, Timestamp};

/// The refusal for a budget that is not there, or not any more.
pub fn not_found(id: BudgetId) -> Rejection {
    Code::BudgetNotFound.because(format!("budget {id} does not exist"))
}

/// Fills an empty slot. An id stands for one definition for ever, also after its budget was deleted.
pub fn create(
    slot: &mut Option<Budget>,
    id: BudgetId,
    command: &CreateBudget,
    now: Timestamp,
) -> Result<BudgetCreated, Rejection> {
    check_definition(command)?;
    let definition_digest = definition_digest(command);
    if let Some(existing) = slot {
        let same = existing.definition_digest == definition_digest && existing.deleted_at.is_none();
        let other =
            || Code::AlreadyExists.because(format!("budget {id} exists with another definition, or was deleted"));
        return same.then_some(BudgetCreated::Exists).ok_or_else(other);
    }
    let budget = slot.insert(Budget {
        id,
        namespace: command.namespace.clone(),
        scope: command.scope.clone(),
        dimensions: command.dimensions.clone(),
        usage: BTreeMap::new(),
        reset_interval: command.reset_interval,
        on_hard_limit: command.on_hard_limit,
        created_at: now,
        definition_digest,
        next_reset_at: command.reset_interval.map(|interval| now + interval),
        generation: 1,
        generation_at: now,
        soft_breaches: 0,
        hard_breaches: 0,
        last_breach: None,
        closed_at: None,
        stop: None,
        withdrawal: None,
        deleted_at: None,
        blocked_in: BlockedIn::default(),
        requests: RequestLog::default(),
        carried: Default::default(),
    });
    note_closing(budget, now);
    Ok(BudgetCreated::Created)
}

/// Changes limits. Lowering one below what is spent closes admission at once, but is no breach: nothing was spent by it.
pub fn update_limits(budget: &mut Budget, command: &UpdateLimits, now: Timestamp) -> Result<Updated, Rejection> {
    check_exists(budget)?;
    let mut dimensions = budget.dimensions.clone();
    dimensions.extend(command.dimensions.clone());
    check_dimensions(&dimensions)?;
    settle(budget, now);
    if dimensions == budget.dimensions {
        return Ok(Updated::Unchanged);
    }
    budget.dimensions = dimensions;
    end_stop_if_cured(budget, now);
    move_generation(budget, now);
    Ok(Updated::Now)
}

/// Starts usage again from zero; periodic resets keep their rhythm.
pub fn reset(budget: &mut Budget, command: &ResetBudget, now: Timestamp) -> Result<BudgetReset, Rejection> {
    check_exists(budget)?;
    let request_id = command.request_id.as_ref();
    if budget.requests.remembers(request_id, &RequestOutcome::BudgetReset) {
        return Ok(BudgetReset::Already);
    }
    settle(budget, now);
    start_again(budget, now);
    budget.requests.remember(request_id, RequestOutcome::BudgetReset);
    Ok(BudgetReset::Now)
}

/// Leaves a tombstone: the budget limits nothing any more, and work that waits for it is released.
pub fn delete(budget: &mut Budget, now: Timestamp) -> Deleted {
    if budget.deleted_at.is_some() {
        return Deleted::Already;
    }
    budget.deleted_at = Some(now);
    budget.next_reset_at = None;
    end_stop(budget, now);
    move_generation(budget, now);
    Deleted::Now
}

pub(super) fn check_exists(budget: &Budget) -> Result<(), Rejection> {
    match budget.deleted_at {
        Some(_) => Err(not_found(budget.id)),
        None => Ok(()),
    }
}

fn definition_digest(command: &CreateBudget) -> Digest {
    let number = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
    let mut parts = vec![
        command.namespace.to_string(),
        command.scope.clone(),
        number(command.reset_interval.map(Duration::as_millis)),
        format!("{:?}", command.on_hard_limit),
    ];
    for (dimension, limits) in &command.dimensions {
        parts.extend([dimension.to_string(), number(limits.soft), number(limits.hard)]);
    }
    Digest::of("budget definition", parts)
}
