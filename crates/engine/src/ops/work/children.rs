//! wait_children: decided from the counters of the inbound edges.

use ff_core::command::flow::{WaitChildren, WaitedChildren};
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::machine::group::Counts;
use ff_core::machine::wait_children;
use ff_core::record::{CounterKey, GroupCounter, RecordKey};

use super::Held;
use crate::engine::Engine;
use crate::transact::Decision;

/// Counters are read with the execution, so nothing is decided from memory here.
pub(crate) async fn wait_children(engine: &Engine, command: On<ExecutionId, WaitChildren>) -> Result<WaitedChildren> {
    let On { id, command } = command;
    engine.check_id(id)?;
    let held = Held::recording(engine, id, &command.steps, None).await?;
    let counters = GroupCounter::ALL.map(|counter| CounterKey::Group(id, counter));
    let locked = engine.lock(RecordKey::Execution(id)).await;
    let decide = || async {
        let snapshot = locked.look(held.load().with_counters(counters)).await?;
        let execution = engine.visible(&snapshot, id)?;
        let counts = Counts::read(|counter| snapshot.counter(CounterKey::Group(id, counter)));
        let context = held.context(engine, &snapshot, execution);
        let decided = wait_children::wait_children(execution, &command, &counts, &context)?;
        Ok(Decision::Commit(snapshot, decided))
    };
    locked.transact(decide).await
}
