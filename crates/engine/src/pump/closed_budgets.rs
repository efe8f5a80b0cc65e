//! The queues of a closed budget are moved to the index of their cause, so that nobody scans them.

use std::collections::BTreeSet;

use ff_backend::query::Listing;
use ff_core::fabric::Result;
use ff_core::id::BudgetId;
use ff_core::machine::admission::judge_budgets;
use ff_core::machine::claim;
use ff_core::record::Cause;

use super::follow_up::Progress;
use super::listed::{CHUNK, listed};
use super::releases::continues;
use crate::directory::read_budget;
use crate::engine::Engine;

impl Engine {
    /// Blocks a chunk of what is queued under a budget, if it is closed.
    ///
    /// The partitions are marked before anything is blocked in them, and the budget is read again afterwards: a reset in
    /// between either sees the marks or has moved the generation, and then what was blocked is released here.
    pub(super) async fn block_queue_of(&self, budget_id: BudgetId) -> Result<Progress> {
        let Some(budget) = read_budget(self, budget_id).await? else {
            return Ok(Progress::Done);
        };
        let Err(refusal) = judge_budgets([(budget_id, Some(&budget))]) else {
            return Ok(Progress::Done);
        };
        let queued = Listing::QueuedUnder {
            partitions: self.flow_partitions(),
            budget_id,
        };
        let page = self.store().list(queued, None, CHUNK).await?;
        let is_last = page.next.is_none();
        let rows = listed(page);
        if rows.is_empty() {
            return Ok(if is_last { Progress::Done } else { Progress::More });
        }
        let marks: BTreeSet<_> = rows
            .iter()
            .map(|row| (row.execution.id.partition(), continues(&row.execution)))
            .collect();
        let cause = Cause::Budget(budget_id);
        self.mark_partitions(cause, &marks).await?;
        let blocked = self.change_all(rows, |execution, context| {
            claim::block_queued(execution, &refusal, context)
        });
        let blocked = blocked.await;
        let after = read_budget(self, budget_id).await?;
        if after.is_some_and(|after| after.generation != budget.generation) {
            self.release_cause(cause, &marks).await?;
            return Ok(Progress::More);
        }
        progress_of(blocked, is_last)
    }
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
