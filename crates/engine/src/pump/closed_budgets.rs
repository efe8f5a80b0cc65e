//! The queues of a closed budget are moved to the index of their cause, so that nobody scans them.

use std::collections::BTreeSet;

use ff_core::fabric::Result;
use ff_core::id::BudgetId;
use ff_core::machine::admission::judge_budgets;
use ff_core::machine::claim;
use ff_core::record::Cause;

use super::follow_up::Progress;
use super::listed::{CHUNK, change_all, listed};
use super::releases::{continues, mark_partitions, release_cause};
use crate::engine::Engine;
use crate::ops::budgets;

/// Queues that one chunk is taken from. Those that it empties are not there for the next one.
const QUEUES_AT_ONCE: usize = 256;

/// Blocks a chunk of what is queued under a budget, if it is closed.
///
/// The partitions are marked before anything is blocked in them, and the budget is read again afterwards: a reset in
/// between either sees the marks or has moved the generation, and then what was blocked is released here.
pub(super) async fn block_queue(engine: &Engine, budget_id: BudgetId) -> Result<Progress> {
    let Some(budget) = budgets::find(engine, budget_id).await? else {
        return Ok(Progress::Done);
    };
    let Err(refusal) = judge_budgets([(budget_id, Some(&budget))]) else {
        return Ok(Progress::Done);
    };
    let mut queues = engine
        .queues(|queue| queue.signature.budgets.contains(&budget_id))
        .await?;
    let rest = queues.split_off(queues.len().min(QUEUES_AT_ONCE));
    let page = engine.store().list(engine.ranges(queues), None, CHUNK).await?;
    let is_last = page.next.is_none() && rest.is_empty();
    let rows = listed(page);
    if rows.is_empty() {
        return Ok(if is_last { Progress::Done } else { Progress::More });
    }
    let marks: BTreeSet<_> = rows
        .iter()
        .map(|row| (row.execution.id.partition(), continues(&row.execution)))
        .collect();
    let cause = Cause::Budget(budget_id);
    mark_partitions(engine, cause, &marks).await?;
    let blocked = change_all(engine, rows, |execution, context| {
        claim::block_queued(execution, &refusal, context)
    });
    let blocked = blocked.await;
    let after = budgets::find(engine, budget_id).await?;
    if after.is_some_and(|after| after.generation != budget.generation) {
        release_cause(engine, cause, &marks).await?;
        return Ok(Progress::More);
    }
    progress_of(blocked, is_last)
}

/// How far the queues are emptied after a chunk.
fn progress_of(blocked: Vec<Result<Option<bool>>>, is_last: bool) -> Result<Progress> {
    let mut moved = false;
    for outcome in blocked {
        moved |= outcome? == Some(true);
    }
    Ok(match (is_last, moved) {
        (true, _) => Progress::Done,
        (false, true) => Progress::More,
        // Somebody else empties the same queues.
        (false, false) => Progress::Later,
    })
}
