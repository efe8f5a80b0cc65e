//! get_execution, get_state.

use ff_backend::load::Snapshot;
use ff_core::fabric::Result;
use ff_core::id::ExecutionId;
use ff_core::record::Execution;
use ff_core::view::{ExecutionView, StateView};

use super::environment::{environment_of_eligible, gates_in};
use super::view::{execution_view, state_view};
use crate::engine::Engine;

pub(crate) async fn get_execution(engine: &Engine, id: ExecutionId) -> Result<ExecutionView> {
    let snapshot = engine.read_execution(id).await?;
    let execution = engine.visible(&snapshot, id)?;
    let environment = environment_of_eligible(engine, &[execution], gates_in(&snapshot)).await?;
    Ok(execution_view(execution, &environment))
}

pub(crate) async fn get_state(engine: &Engine, id: ExecutionId) -> Result<StateView> {
    let snapshot = engine.read_execution(id).await?;
    state_in(engine, &snapshot, engine.visible(&snapshot, id)?).await
}

/// Where an execution of a snapshot stands.
pub(super) async fn state_in(engine: &Engine, snapshot: &Snapshot, execution: &Execution) -> Result<StateView> {
    let environment = environment_of_eligible(engine, &[execution], gates_in(snapshot)).await?;
    Ok(state_view(execution, &environment))
}
