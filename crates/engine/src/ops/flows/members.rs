//! add_execution_to_flow.

use ff_backend::load::Snapshot;
use ff_core::command::flow::{AddExecution, Joined};
use ff_core::fabric::{On, Result};
use ff_core::id::{ExecutionId, FlowId};
use ff_core::machine::member;
use ff_core::record::RecordKey;

use crate::engine::Engine;
use crate::snapshots::merge;
use crate::transact::Decision;

pub(crate) async fn add_execution_to_flow(engine: &Engine, command: On<FlowId, AddExecution>) -> Result<Joined> {
    let On {
        id,
        command: AddExecution { execution_id },
    } = command;
    let partition = engine.home_of(id);
    // The execution is locked: its own workers are who else may write it, while nothing here writes the flow.
    let locked = engine.lock(RecordKey::Execution(execution_id)).await;
    let decide = || async {
        let mut snapshot = locked.look(engine.load_of_flow(id)).await?;
        engine.visible_flow(&snapshot, id)?;
        read_executions(engine, &mut snapshot, &[execution_id]).await?;
        let read = engine.visible_flow(&snapshot, id)?;
        let execution = engine.visible(&snapshot, execution_id)?;
        let context = engine.context_of(&snapshot, execution);
        let decided = member::add(execution, read.loaded(), partition, &context)?;
        Ok(Decision::Commit(snapshot, decided))
    };
    locked.transact(decide).await
}

/// Adds executions to a snapshot, wherever they live: one of another partition is refused by the rules, which have to see it
/// for that.
pub(super) async fn read_executions(engine: &Engine, snapshot: &mut Snapshot, ids: &[ExecutionId]) -> Result<()> {
    for id in ids {
        let found = engine.read_execution(*id).await?;
        engine.visible(&found, *id)?;
        merge(snapshot, found);
    }
    Ok(())
}
