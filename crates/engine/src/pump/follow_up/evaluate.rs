//! Executions and flows that were nudged, decided from their counters.
//!
//! A nudge is taken away only as it was read before the counters: one that came since then stays.

use ff_core::fabric::Result;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::machine::{Decided, flow, group};
use ff_core::record::RecordKey;

use super::{Progress, execution_context, flow_context};
use crate::engine::Engine;
use crate::ops::flows::FlowRead;
use crate::snapshots::{group_counters, group_counts};
use crate::transact::Decision;

/// Decides an execution from the counters of its group, after whatever time has brought.
pub(crate) async fn evaluate_execution(engine: &Engine, id: ExecutionId) -> Result<Progress> {
    let key = RecordKey::Execution(id);
    let locked = engine.lock(key.clone()).await;
    let decide = || async {
        let load = Engine::load_of(id).with_counters(group_counters(id));
        let snapshot = locked.look(load).await?;
        let decided = match snapshot.execution(&key) {
            Some(execution) => {
                let context = execution_context(engine, &snapshot, execution);
                group::evaluate(execution, &group_counts(&snapshot, id), &context).map(|_| ())
            }
            None => Decided::unchanged(()),
        };
        Ok(Decision::Answer(key.clone(), snapshot, decided))
    };
    locked.transact(decide).await?;
    Ok(Progress::Done)
}

/// Takes over what the counters of a flow say, and what time does to it.
pub(crate) async fn advance_flow(engine: &Engine, id: FlowId) -> Result<Progress> {
    let key = RecordKey::Flow(id);
    let locked = engine.lock(key.clone()).await;
    let decide = || async {
        let snapshot = locked.look(engine.load_of_flow(id)).await?;
        let decided = match FlowRead::of(&snapshot, id) {
            Some(read) => flow::advance(read.loaded(), &flow_context(engine, &snapshot, read.gate)),
            None => Decided::unchanged(()),
        };
        Ok(Decision::Answer(key.clone(), snapshot, decided))
    };
    locked.transact(decide).await?;
    Ok(Progress::Done)
}
