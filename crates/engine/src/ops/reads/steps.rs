//! read_steps.

use ff_backend::load::{Load, LoadSteps};
use ff_core::caller::Role;
use ff_core::command::page::PageRequest;
use ff_core::command::steps::{ReadSteps, StepPage, StepView};
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, Step};

use crate::engine::{Engine, no_execution};

/// Outputs of one page; at least one step is handed out.
const PAGE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The steps of an execution in the order in which they were recorded.
pub(crate) async fn read_steps(engine: &Engine, request: On<ExecutionId, ReadSteps>) -> Result<StepPage> {
    let On { id, command } = request;
    engine.check_id(id)?;
    let page = PageRequest {
        cursor: None,
        limit: command.limit,
    };
    let limit = page.limit()?;
    let with_outputs = command.outputs;
    let sees_outputs = engine.caller.role.contains(Role::Submitter) || engine.caller.held.is_some();
    if with_outputs && !sees_outputs {
        return Err(Code::Forbidden.because("what steps left takes the role submitter, or the lease of the execution"));
    }
    let asked = LoadSteps {
        execution_id: id,
        from_seq: command.from_seq.unwrap_or(0),
        limit,
        output_bytes: if with_outputs { PAGE_BYTES_MAX } else { 0 },
    };
    let mut snapshot = engine.store().load(Engine::load_of(id).with_steps([asked])).await?;
    let journal = engine.visible(&snapshot, id)?.steps.clone();
    let steps: Vec<Step> = snapshot.steps(id).into_iter().cloned().collect();
    let last = steps.last().filter(|_| steps.len() == limit);
    let mut next = last.map(|last| last.seq + 1).filter(|seq| *seq < journal.next_seq);
    let mut items = Vec::new();
    for step in steps.into_iter().filter(|step| !journal.has_forgotten(step)) {
        let key = BlobKey::Step(id, step.seq);
        let mut output = snapshot.blobs.remove(&key).filter(|_| with_outputs);
        if with_outputs && step.output_bytes.is_some() && output.is_none() {
            if !items.is_empty() {
                next = Some(step.seq);
                break;
            }
            // Larger than a page. It goes with its record: without it the execution is being deleted.
            output = Some(output_of(engine, key).await?.ok_or_else(|| no_execution(id))?);
        }
        items.push(view(step, output, with_outputs));
    }
    Ok(StepPage { items, next })
}

async fn output_of(engine: &Engine, key: BlobKey) -> Result<Option<Payload>> {
    let load = Load::records(key.execution_id().partition(), []).with_blobs([key]);
    Ok(engine.store().load(load).await?.blobs.remove(&key))
}

fn view(step: Step, output: Option<Payload>, with_outputs: bool) -> StepView {
    StepView {
        seq: step.seq,
        key: step.key,
        kind: step.kind,
        state: step.state,
        attempt_index: step.attempt_index,
        recorded_at: step.recorded_at,
        started_at: step.started_at,
        failure: step.failure,
        output_bytes: step.output_bytes,
        output,
        input_digest: step.input_digest.filter(|_| with_outputs),
    }
}
