//! get_result.

use ff_backend::load::Load;
use ff_backend::query::Listing;
use ff_core::command::lease::Holder;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::limits::PAGE_MAX;
use ff_core::machine::lease;
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, Edge, Execution, RecordKey};
use ff_core::view::GetResult;

use crate::engine::{Engine, no_execution};

/// What the execution ended with: it has a result while its last end was a success, also while a replay runs. The holder
/// of a child is answered what it is handed, which is what the last success left.
pub(crate) async fn get_result(engine: &Engine, request: On<ExecutionId, GetResult>) -> Result<Payload> {
    let On { id, command: request } = request;
    engine.check_id(id)?;
    if let Some(holder) = &request.holder {
        check_child_of(engine, id, holder).await?;
    }
    let blob = BlobKey::Result(id);
    let mut snapshot = engine.store().load(Engine::load_of(id).with_blobs([blob])).await?;
    let execution = engine.visible(&snapshot, id)?;
    let bytes = match request.holder {
        None => execution.result_bytes(),
        Some(_) => execution.success.and_then(|success| success.result_bytes),
    };
    if bytes.is_none() {
        return Err(no_result(execution));
    }
    // The bytes go together with the record: without them it is being deleted.
    snapshot.blobs.remove(&blob).ok_or_else(|| no_execution(id))
}

/// Refuses who does not hold the lease of a child of `upstream`. A lease under which inputs are read is used.
async fn check_child_of(engine: &Engine, upstream: ExecutionId, holder: &Holder) -> Result<()> {
    let child = holder.execution_id;
    let fence = Some(&holder.fence);
    engine
        .change_held(child, |execution, context| lease::confirm(execution, fence, context))
        .await?;
    if depends_on(engine, child, upstream).await? {
        return Ok(());
    }
    Err(Code::EdgeNotFound.because(format!("execution {child} does not depend on {upstream}")))
}

async fn depends_on(engine: &Engine, downstream: ExecutionId, upstream: ExecutionId) -> Result<bool> {
    let derived = RecordKey::Edge(Edge::id_between(upstream, downstream));
    let load = Load::records(downstream.partition(), [derived.clone()]);
    if engine.store().load(load).await?.edge(&derived).is_some() {
        return Ok(true);
    }
    let mut pages = engine.store().pages(Listing::EdgesInto { downstream }, PAGE_MAX);
    while let Some(page) = pages.next().await? {
        if page.edges().iter().any(|(edge, _)| edge.upstream == upstream) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn no_result(execution: &Execution) -> Rejection {
    let id = execution.id;
    Code::ResultNotAvailable.because(match (execution.success, execution.is_terminal()) {
        (Some(_), _) | (None, true) => format!("execution {id} last ended without a result"),
        (None, false) => format!("execution {id} has not ended"),
    })
}
