//! Budgets that are due: a reset has come, what waits may go, or what runs must stop.

use ff_backend::limits;
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::id::BudgetId;
use ff_core::machine::budget::BudgetWork;
use ff_core::record::Cause;

use super::duty::Duty;
use super::follow_up::Progress;
use super::{releases, stops};
use crate::engine::Engine;
use crate::fault::refused;

/// Applies what time has brought to a budget, and does what that means for others. Should this process die meanwhile,
/// the budget stays due.
pub(super) async fn advance(engine: &Engine, id: BudgetId) -> Result<Progress> {
    let (began_at, work) = match limits::budgets::advance(engine.store(), id).await.map_err(refused) {
        Ok(work) => work,
        // A budget that is not there keeps its work blocked, and has nothing else to do.
        Err(refusal) if refusal.code == Code::BudgetNotFound => return Ok(Progress::Done),
        Err(refusal) => return Err(refusal),
    };
    let BudgetWork {
        release,
        withdraw,
        stop,
    } = work;
    let released = match release {
        Some(release) => releases::release_blocked(engine, Cause::Budget(id), release).await,
        None => Ok(()),
    };
    let withdrawn = match withdraw {
        Some(generation) => {
            let sweep = stops::withdraw(engine, id, generation);
            Duty::StopSweep.serve(engine, sweep).await
        }
        None => Ok(Progress::Done),
    };
    let stopped = match stop {
        Some(stop) => {
            let sweep = stops::request(engine, &stop, began_at);
            Duty::StopSweep.serve(engine, sweep).await
        }
        None => Ok(Progress::Done),
    };
    released?;
    match withdrawn? {
        Progress::Done => stopped,
        unfinished => stopped.map(|_| unfinished),
    }
}
