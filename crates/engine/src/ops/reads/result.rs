//! get_result.

use ff_core::error::{Code, Rejection};
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, Execution};
use ff_core::state::public_state;
use ff_core::time::Duration;
use ff_core::view::GetResult;

use super::wait::end_of;
use crate::engine::{Engine, no_execution};

/// What the execution ended with: it has a result while its last end was a success, also while a replay runs. Who shows the
/// lease of a child is answered what the child is handed, which is what the last success left.
pub(crate) async fn get_result(engine: &Engine, request: On<ExecutionId, GetResult>) -> Result<Payload> {
    let On { id, command: request } = request;
    engine.check_id(id)?;
    if request.wait > Duration::ZERO {
        let (_, execution) = end_of(engine, id, request.wait).await?;
        if result_bytes(engine, &execution).is_none() {
            return Err(no_result(&execution));
        }
    }
    let blob = BlobKey::Result(id);
    let mut snapshot = engine.store().load(Engine::load_of(id).with_blobs([blob])).await?;
    let execution = engine.visible(&snapshot, id)?;
    if result_bytes(engine, execution).is_none() {
        return Err(no_result(execution));
    }
    // The bytes go together with the record: without them it is being deleted.
    snapshot.blobs.remove(&blob).ok_or_else(|| no_execution(id))
}

/// The size of what the caller may have.
fn result_bytes(engine: &Engine, execution: &Execution) -> Option<u64> {
    match engine.caller.held {
        None => execution.result_bytes(),
        Some(_) => execution.success.and_then(|success| success.result_bytes),
    }
}

fn no_result(execution: &Execution) -> Rejection {
    let id = execution.id;
    let detail = match (execution.success, execution.is_terminal()) {
        (Some(_), _) | (None, true) => format!("execution {id} last ended without a result"),
        (None, false) => format!("execution {id} has not ended"),
    };
    Code::ResultNotAvailable
        .because(detail)
        .with("public_state", public_state(execution).as_str())
}
