//! Pending waitpoints nobody used in time.

use ff_backend::load::Load;
use ff_core::fabric::Result;
use ff_core::id::{ExecutionId, WaitpointId};
use ff_core::machine::waitpoint;
use ff_core::record::RecordKey;

use super::follow_up::Progress;
use crate::engine::Engine;
use crate::fault::internal;
use crate::transact::Decision;

/// Closes a pending waitpoint whose time has passed.
pub(super) async fn expire(engine: &Engine, execution_id: ExecutionId, id: WaitpointId) -> Result<Progress> {
    let key = RecordKey::Waitpoint(execution_id, id);
    let owner = RecordKey::Execution(execution_id);
    let locked = engine.lock(key.clone()).await;
    let decide = || async {
        let load = Load::records(execution_id.partition(), [key.clone(), owner.clone()]);
        let snapshot = locked.look(load).await?;
        let Some(pending) = snapshot.waitpoint(&key) else {
            return Ok(Decision::unchanged(snapshot, ()));
        };
        let Some(execution) = snapshot.execution(&owner) else {
            return Err(internal(&format!("waitpoint {id} has no execution {execution_id}")));
        };
        let decided = waitpoint::expire(pending, execution, &engine.context(snapshot.now));
        Ok(Decision::Commit(snapshot, decided))
    };
    locked.transact(decide).await?;
    Ok(Progress::Done)
}
