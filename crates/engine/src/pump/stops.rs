//! A breached budget stops what runs under it, and takes that back when the breach is over.

use ff_backend::limits;
use ff_core::fabric::Result;
use ff_core::id::BudgetId;
use ff_core::machine::budget::Stop;
use ff_core::machine::index::Index;
use ff_core::machine::{Context, Decided, lease};
use ff_core::record::Execution;
use ff_core::time::Timestamp;

use super::follow_up::Progress;
use super::listed::{CHUNK, change_all, listed};
use crate::engine::Engine;
use crate::fault::refused;

/// Asks every leased execution of a budget to stop, and tells the budget when all were asked. One that was asked before
/// is not asked again, so a sweep that broke off simply starts anew.
pub(super) async fn request(engine: &Engine, stop: &Stop, began_at: Timestamp) -> Result<Progress> {
    let budget_id = stop.budget_id;
    let rule = |execution: &_, context: &_| lease::request_stop(execution, stop, context);
    let progress = sweep_leased(engine, budget_id, rule).await?;
    if progress == Progress::Done {
        let told = limits::budgets::stopped(engine.store(), budget_id, began_at).await;
        told.map_err(refused)?;
    }
    Ok(progress)
}

/// Tells every leased execution of a budget that it may go on, and the budget when all were told.
pub(super) async fn withdraw(engine: &Engine, budget_id: BudgetId, generation: u64) -> Result<Progress> {
    let rule = |execution: &_, context: &_| lease::withdraw_stop(execution, budget_id, generation, context);
    let progress = sweep_leased(engine, budget_id, rule).await?;
    if progress == Progress::Done {
        let told = limits::budgets::withdrawn(engine.store(), budget_id, generation).await;
        told.map_err(refused)?;
    }
    Ok(progress)
}

/// Decides about every leased execution of a budget, in chunks.
async fn sweep_leased(
    engine: &Engine,
    budget_id: BudgetId,
    rule: impl Fn(&Execution, &Context) -> Result<Decided<bool>> + Send + Sync,
) -> Result<Progress> {
    let leased = engine.range(Index::LeasedUnder(budget_id));
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
    Ok(Progress::Done)
}
