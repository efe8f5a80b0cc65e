//! The timers of an execution: delays, grants, leases, timeouts, deadlines, suspensions, retention.

use ff_backend::load::Snapshot;
use ff_core::fabric::Result;
use ff_core::id::ExecutionId;
use ff_core::machine::time;
use ff_core::record::{Execution, RecordKey};

use super::follow_up::{Progress, evaluate_execution};
use crate::engine::Engine;

/// Applies what time has brought to an execution, as `seen` shows it or as it stands by now.
///
/// A nudge is left where it is: nothing here has looked at the counters it is about.
pub(super) async fn advance(engine: &Engine, seen: &Snapshot, id: ExecutionId) -> Result<Progress> {
    let key = RecordKey::Execution(id);
    if seen.execution(&key).is_some_and(waits_for_group) {
        return evaluate_execution(engine, id).await;
    }
    let mut tries = engine.tries(key.clone()).await;
    let mut snapshot = seen.clone();
    loop {
        let Some(execution) = snapshot.execution(&key) else {
            return Ok(Progress::Done);
        };
        let step = time::advance(execution, &engine.context_of(&snapshot, execution));
        if tries.commit(&snapshot, step).await?.is_some() {
            return Ok(Progress::Done);
        }
        snapshot = tries.read(Engine::load_of(id)).await?;
    }
}

/// Whether the counters of its group have a say.
fn waits_for_group(execution: &Execution) -> bool {
    execution.dependencies.as_ref().is_some_and(|group| group.waiting)
}
