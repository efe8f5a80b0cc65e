//! A breached budget stops what runs under it, and takes that back when the breach is over.

use ff_backend::budget::BudgetCall;
use ff_backend::query::Listing;
use ff_core::fabric::Result;
use ff_core::id::BudgetId;
use ff_core::machine::budget::Stop;
use ff_core::machine::{Context, Decided, lease};
use ff_core::record::Execution;
use ff_core::time::Timestamp;

use super::follow_up::Progress;
use super::listed::{CHUNK, change_all, listed};
use crate::engine::Engine;

/// Asks every leased execution of a budget to stop, and tells the budget when all were asked. One that was asked before
/// is not asked again, so a sweep that broke off simply starts anew.
pub(super) async fn request(engine: &Engine, stop: &Stop, began_at: Timestamp) -> Result<Progress> {
    let budget_id = stop.budget_id;
    let done = BudgetCall::Stopped { budget_id, began_at };
    sweep_leased(engine, budget_id, done, |execution, context| {
        lease::request_stop(execution, stop, context)
    })
    .await
}

/// Tells every leased execution of a budget that it may go on, and the budget when all were told.
pub(super) async fn withdraw(engine: &Engine, budget_id: BudgetId, generation: u64) -> Result<Progress> {
    let done = BudgetCall::Withdrawn { budget_id, generation };
    sweep_leased(engine, budget_id, done, |execution, context| {
        lease::withdraw_stop(execution, budget_id, generation, context)
    })
    .await
}

/// Decides about every leased execution of a budget, in chunks, and then says so.
async fn sweep_leased(
    engine: &Engine,
    budget_id: BudgetId,
    done: BudgetCall,
    rule: impl Fn(&Execution, &Context) -> Result<Decided<bool>> + Send + Sync,
) -> Result<Progress> {
    let leased = Listing::LeasedUnder {
        partitions: engine.flow_partitions(),
        budget_id,
    };
    let mut failure = None;
    let mut pages = engine.store().pages(leased, CHUNK);
    while let Some(page) = pages.next().await? {
        let asked = change_all(engine, listed(page), &rule).await;
        failure = asked.into_iter().find_map(std::result::Result::err).or(failure);
        if engine.is_stopping() && !pages.is_over() {
            return Ok(Progress::Later);
        }
    }
    if let Some(failure) = failure {
        return Err(failure);
    }
    engine.store().budget(done).await?.1?;
    Ok(Progress::Done)
}
