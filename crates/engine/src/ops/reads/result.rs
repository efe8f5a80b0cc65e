//! get_result.

use ff_core::error::{Code, Rejection};
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, Execution};
use ff_core::time::Duration;
use ff_core::view::{GetResult, WaitForEnd};

use super::wait::wait_for_end;
use crate::engine::{Engine, no_execution};

/// What the execution ended with: it has a result while its last end was a success, also while a replay runs. Who shows the
/// lease of a child is answered what the child is handed, which is what the last success left.
pub(crate) async fn get_result(engine: &Engine, request: On<ExecutionId, GetResult>) -> Result<Payload> {
    let On { id, command: request } = request;
    engine.check_id(id)?;
    if request.wait > Duration::ZERO {
        wait_for_end(engine, On::new(id, WaitForEnd { wait: request.wait })).await?;
    }
    let blob = BlobKey::Result(id);
    let mut snapshot = engine.store().load(Engine::load_of(id).with_blobs([blob])).await?;
    let execution = engine.visible(&snapshot, id)?;
    let bytes = match engine.caller.held {
        None => execution.result_bytes(),
        Some(_) => execution.success.and_then(|success| success.result_bytes),
    };
    if bytes.is_none() {
        return Err(no_result(execution));
    }
    // The bytes go together with the record: without them it is being deleted.
    snapshot.blobs.remove(&blob).ok_or_else(|| no_execution(id))
}

fn no_result(execution: &Execution) -> Rejection {
    let id = execution.id;
    Code::ResultNotAvailable.because(match (execution.success, execution.is_terminal()) {
        (Some(_), _) | (None, true) => format!("execution {id} last ended without a result"),
        (None, false) => format!("execution {id} has not ended"),
    })
}
