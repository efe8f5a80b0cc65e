//! The timers of an execution: delays, grants, leases, timeouts, deadlines, suspensions, retention.

use ff_backend::load::Snapshot;
use ff_core::fabric::Result;
use ff_core::id::ExecutionId;
use ff_core::machine::time;
use ff_core::record::{Execution, RecordKey};

use super::follow_up::{Progress, evaluate_execution};
use crate::engine::Engine;
use crate::transact::Decision;

/// Applies what time has brought to an execution, as `seen` shows it or as it stands by now.
///
/// A nudge is left where it is: nothing here has looked at the counters it is about.
pub(super) async fn advance(engine: &Engine, seen: &Snapshot, id: ExecutionId) -> Result<Progress> {
    let key = RecordKey::Execution(id);
    if seen.execution(&key).is_some_and(waits_for_group) {
        return evaluate_execution(engine, id).await;
    }
    let locked = engine.lock(key.clone()).await.starting_from(Some(seen.clone()));
    let decide = || async {
        let snapshot = locked.look(Engine::load_of(id)).await?;
        let Some(execution) = snapshot.execution(&key) else {
            return Ok(Decision::unchanged(snapshot, ()));
        };
        let decided = time::advance(execution, &engine.context_of(&snapshot, execution));
        Ok(Decision::Commit(snapshot, decided))
    };
    locked.transact(decide).await?;
    Ok(Progress::Done)
}

/// Whether the counters of its group have a say.
fn waits_for_group(execution: &Execution) -> bool {
    execution.dependencies.as_ref().is_some_and(|group| group.waiting)
}
