//! get_execution, get_state, get_result.

use ff_backend::load::Snapshot;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::Result;
use ff_core::id::ExecutionId;
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, Execution};
use ff_core::view::{ExecutionView, StateView};

use super::scene::gates_in;
use super::view::{execution_view, state_view};
use crate::engine::{Engine, no_execution};

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

    /// What the execution ended with: it has a result while its last end was a success, also while a replay runs.
    pub(super) async fn read_result(&self, id: ExecutionId) -> Result<Payload> {
        self.check_id(id)?;
        let blob = BlobKey::Result(id);
        let mut snapshot = self.store().load(Self::load_of(id).with_blobs([blob])).await?;
        let execution = self.visible(&snapshot, id)?;
        if execution.result_bytes().is_none() {
            return Err(no_result(execution));
        }
        // The bytes go together with the record: without them it is being deleted.
        snapshot.blobs.remove(&blob).ok_or_else(|| no_execution(id))
    }
}

fn no_result(execution: &Execution) -> Rejection {
    let id = execution.id;
    Code::ResultNotAvailable.because(match (execution.success, execution.is_terminal()) {
        (Some(_), _) | (None, true) => format!("execution {id} last ended without a result"),
        (None, false) => format!("execution {id} has not ended"),
    })
}
