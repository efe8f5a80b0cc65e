//! get_execution, get_state.

use ff_backend::load::Snapshot;
use ff_core::fabric::Result;
use ff_core::id::ExecutionId;
use ff_core::record::Execution;
use ff_core::view::{ExecutionView, StateView};

use super::scene::gates_in;
use super::view::{execution_view, state_view};
use crate::engine::Engine;

impl Engine {
    pub(super) async fn view_execution(&self, id: ExecutionId) -> Result<ExecutionView> {
        let snapshot = self.read_execution(id).await?;
        let execution = self.visible(&snapshot, id)?;
        let scene = self.scene(&[execution], gates_in(&snapshot)).await?;
        Ok(execution_view(execution, &scene))
    }

    pub(super) async fn view_state(&self, id: ExecutionId) -> Result<StateView> {
        let snapshot = self.read_execution(id).await?;
        self.state_in(&snapshot, self.visible(&snapshot, id)?).await
    }

    /// Where an execution of a snapshot stands.
    pub(super) async fn state_in(&self, snapshot: &Snapshot, execution: &Execution) -> Result<StateView> {
        let scene = self.scene(&[execution], gates_in(snapshot)).await?;
        Ok(state_view(execution, &scene))
    }
}
