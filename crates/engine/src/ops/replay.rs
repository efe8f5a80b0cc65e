//! replay_execution.

use ff_backend::load::{Load, LoadSteps, Snapshot};
use ff_core::command::flow::{ReplayExecution, Replayed};
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::limits::PAGE_MAX;
use ff_core::machine::index::Index;
use ff_core::machine::replay::{self, Past};
use ff_core::record::{CounterKey, EdgeState, Execution, GroupCounter, RecordKey, Step};

use crate::engine::Engine;
use crate::snapshots::merge;
use crate::transact::Decision;

/// Reopens a terminal execution. The edges around it are reopened in follow-up work, before it may be claimed.
pub(crate) async fn replay_execution(engine: &Engine, command: On<ExecutionId, ReplayExecution>) -> Result<Replayed> {
    let On { id, command } = command;
    engine.check_id(id)?;
    let locked = engine.lock(RecordKey::Execution(id)).await;
    let decide = || async {
        let load = Engine::load_of(id).with_counters([failed_inbound(id)]);
        let mut snapshot = locked.look(load).await?;
        let execution = engine.visible(&snapshot, id)?.clone();
        let past = past_of(engine, &execution, &mut snapshot).await?;
        let decided = replay::replay(&execution, &command, &past, &engine.context_of(&snapshot, &execution))?;
        Ok(Decision::Commit(snapshot, decided))
    };
    locked.transact(decide).await
}

/// What earlier runs of an execution left behind.
async fn past_of(engine: &Engine, execution: &Execution, snapshot: &mut Snapshot) -> Result<Past> {
    let archived = match &execution.attempt {
        None => false,
        Some(attempt) => {
            let key = RecordKey::Attempt(execution.id, attempt.index);
            let load = Load::records(snapshot.partition, [key.clone()]);
            merge(snapshot, engine.store().load(load).await?);
            snapshot.records.contains_key(&key)
        }
    };
    let has_failed_edges = execution.definition.flow.is_some()
        && (snapshot.counter(failed_inbound(execution.id)) > 0 || has_failed_outbound(engine, execution.id).await?);
    Ok(Past {
        archived,
        has_failed_edges,
        steps: all_steps(engine, execution).await?,
    })
}

/// Everything that was ever recorded of what its handler did, without outputs.
async fn all_steps(engine: &Engine, execution: &Execution) -> Result<Vec<Step>> {
    let (id, mut steps) = (execution.id, Vec::new());
    let mut from_seq = 0;
    while from_seq < execution.steps.next_seq {
        let asked = LoadSteps {
            execution_id: id,
            from_seq,
            limit: PAGE_MAX,
            output_bytes: 0,
        };
        let load = Load::records(id.partition(), []).with_steps([asked]);
        let page = engine.store().load(load).await?;
        let found = page.steps(id);
        let Some(last) = found.last() else { break };
        from_seq = last.seq + 1;
        steps.extend(found.into_iter().cloned());
    }
    Ok(steps)
}

/// Whether an edge out of an execution has failed. Where there are too many to tell at once it says yes: then the
/// follow-up work looks at each of them, and leaves alone what has not.
async fn has_failed_outbound(engine: &Engine, upstream: ExecutionId) -> Result<bool> {
    let page = engine
        .store()
        .list(engine.range(Index::EdgesFrom(upstream)), None, PAGE_MAX)
        .await?;
    let more = page.next.is_some();
    Ok(more || page.edges().iter().any(|(edge, _)| edge.state == EdgeState::Failed))
}

const fn failed_inbound(id: ExecutionId) -> CounterKey {
    CounterKey::Group(id, GroupCounter::Failed)
}
