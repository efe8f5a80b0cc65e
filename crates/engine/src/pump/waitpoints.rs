//! Pending waitpoints nobody used in time.

use ff_backend::load::Load;
use ff_core::fabric::Result;
use ff_core::id::{ExecutionId, WaitpointId};
use ff_core::machine::waitpoint;
use ff_core::record::RecordKey;

use super::follow_up::Progress;
use crate::engine::Engine;
use crate::fault::internal;

/// Closes a pending waitpoint whose time has passed.
pub(super) async fn expire(engine: &Engine, execution_id: ExecutionId, id: WaitpointId) -> Result<Progress> {
    let key = RecordKey::Waitpoint(execution_id, id);
    let owner = RecordKey::Execution(execution_id);
    let mut tries = engine.tries(key.clone()).await;
    loop {
        let load = Load::records(execution_id.partition(), [key.clone(), owner.clone()]);
        let snapshot = tries.read(load).await?;
        let Some(pending) = snapshot.waitpoint(&key) else {
            return Ok(Progress::Done);
        };
        let Some(execution) = snapshot.execution(&owner) else {
            return Err(internal(&format!("waitpoint {id} has no execution {execution_id}")));
        };
        let step = waitpoint::expire(pending, execution, &engine.context(snapshot.now));
        if tries.commit(&snapshot, step).await?.is_some() {
            return Ok(Progress::Done);
        }
    }
}
