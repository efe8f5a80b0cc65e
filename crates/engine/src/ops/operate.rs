//! What a client or an operator does to executions and lanes.

use ff_core::command::lane::SetLaneState;
use ff_core::command::operator::{
    CancelExecution, Cancelled, ChangePriority, Changed, HoldExecution, RevokeLease, Revoked,
};
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::machine::{Context, operator};
use ff_core::record::{Execution, RecordKey};

pub(crate) use super::replay::replay_execution;
use crate::directory::lanes;
use crate::engine::Engine;
use crate::ops::flows::FlowRead;
use crate::snapshots::merge;
use crate::transact::Decision;

pub(crate) async fn cancel_execution(engine: &Engine, command: On<ExecutionId, CancelExecution>) -> Result<Cancelled> {
    let rule = |execution: &Execution, context: &Context| operator::cancel(execution, &command.command, context);
    match command.command.fence {
        Some(_) => engine.change_held(command.id, rule).await,
        None => engine.change(command.id, rule).await,
    }
}

pub(crate) async fn delete_execution(engine: &Engine, id: ExecutionId) -> Result<()> {
    engine.check_id(id)?;
    let locked = engine.lock(RecordKey::Execution(id)).await;
    let decide = || async {
        let mut snapshot = locked.look(Engine::load_of(id)).await?;
        let flow = engine.visible(&snapshot, id)?.definition.flow;
        if let Some(flow) = flow {
            merge(&mut snapshot, engine.store().load(engine.load_of_flow(flow)).await?);
        }
        let execution = engine.visible(&snapshot, id)?;
        let read = flow.and_then(|flow| FlowRead::of(&snapshot, flow));
        let open_members = read.map_or(0, |read| read.counts.open);
        let decided = operator::delete(execution, open_members, &engine.context_of(&snapshot, execution))?;
        Ok(Decision::Commit(snapshot, decided))
    };
    locked.transact(decide).await
}

pub(crate) async fn revoke_lease(engine: &Engine, command: On<ExecutionId, RevokeLease>) -> Result<Revoked> {
    engine
        .change(command.id, |execution, context| {
            operator::revoke_lease(execution, &command.command, context)
        })
        .await
}

pub(crate) async fn change_priority(engine: &Engine, command: On<ExecutionId, ChangePriority>) -> Result<Changed> {
    engine
        .change(command.id, |execution, context| {
            operator::change_priority(execution, &command.command, context)
        })
        .await
}

pub(crate) async fn hold(engine: &Engine, command: On<ExecutionId, HoldExecution>) -> Result<Changed> {
    engine
        .change(command.id, |execution, context| {
            operator::hold(execution, &command.command, context)
        })
        .await
}

pub(crate) async fn unhold(engine: &Engine, id: ExecutionId) -> Result<Changed> {
    engine.change(id, operator::unhold).await
}

pub(crate) async fn set_lane_state(engine: &Engine, command: SetLaneState) -> Result<Changed> {
    engine.check_namespace(&command.namespace)?;
    let changed = lanes::set_state(engine, &command).await?;
    if command.state.hands_out() {
        // Also when it was so already: whoever changed it may not have come to this line.
        engine.shared.claim_queues.wake(&command.namespace, &command.lane_id);
    }
    Ok(changed)
}
