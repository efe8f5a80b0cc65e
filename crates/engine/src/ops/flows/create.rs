//! create_flow.

use ff_core::command::flow::{CreateFlow, CreateFlowWith, CreatedFlow, FlowCreated};
use ff_core::fabric::Result;
use ff_core::id::FlowId;
use ff_core::machine::flow;
use ff_core::record::RecordKey;

use crate::engine::Engine;
use crate::transact::Decision;

pub(crate) async fn create_flow(engine: &Engine, command: CreateFlowWith) -> Result<CreatedFlow> {
    engine.check_namespace(&command.definition.namespace)?;
    let flow_id = id_of(engine, command.flow_id).await?;
    let created = create_under(engine, flow_id, &command.definition).await?;
    Ok(CreatedFlow { flow_id, created })
}

/// The id of a new flow: the one it was given, or a fresh one.
pub(super) async fn id_of(engine: &Engine, given: Option<FlowId>) -> Result<FlowId> {
    match given {
        Some(id) => Ok(id),
        None => {
            let now = engine.store_time().await?;
            Ok(FlowId::from_uuid(engine.mint(now)))
        }
    }
}

/// Creates the flow `id` unless it is there.
pub(super) async fn create_under(engine: &Engine, id: FlowId, definition: &CreateFlow) -> Result<FlowCreated> {
    let key = RecordKey::Flow(id);
    let locked = engine.lock(key.clone()).await;
    let decide = || async {
        let snapshot = locked.look(engine.load_of_flow(id)).await?;
        let decided = flow::create(snapshot.flow(&key), id, definition, &engine.context(snapshot.now))?;
        Ok(Decision::Commit(snapshot, decided))
    };
    locked.transact(decide).await
}
