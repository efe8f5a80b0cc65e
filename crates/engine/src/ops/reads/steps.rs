//! read_steps, get_step_output.

use ff_core::caller::Role;
use ff_core::command::page::PageRequest;
use ff_core::command::steps::{GetStepOutput, ReadSteps, StepPage};
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::payload::Payload;

use crate::engine::Engine;
use crate::journal::{self, Ask};

/// Outputs of one page; at least one step is handed out.
const PAGE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The steps of an execution in the order in which they were recorded.
pub(crate) async fn read_steps(engine: &Engine, request: On<ExecutionId, ReadSteps>) -> Result<StepPage> {
    let On { id, command } = request;
    let page = PageRequest {
        cursor: None,
        limit: command.limit,
    };
    let sees_outputs = engine.caller.role.contains(Role::Submitter) || engine.caller.held.is_some();
    if command.outputs && !sees_outputs {
        return Err(Code::Forbidden.because("what steps left takes the role submitter, or the lease of the execution"));
    }
    let ask = Ask {
        from_seq: command.from_seq.unwrap_or(0),
        limit: page.limit()?,
        output_bytes: command.outputs.then_some(PAGE_BYTES_MAX),
        forgotten: command.forgotten,
    };
    let steps = read(engine, id, ask).await?;
    Ok(StepPage {
        items: steps.items,
        next: steps.next,
    })
}

/// What one step left.
pub(crate) async fn get_step_output(engine: &Engine, request: On<ExecutionId, GetStepOutput>) -> Result<Payload> {
    let On { id, command } = request;
    let seq = command.seq;
    let ask = Ask {
        from_seq: seq,
        limit: 1,
        output_bytes: Some(PAGE_BYTES_MAX),
        forgotten: false,
    };
    let steps = read(engine, id, ask).await?.items;
    let output = steps
        .into_iter()
        .find(|step| step.seq == seq)
        .and_then(|step| step.output);
    output.ok_or_else(|| {
        let detail = format!("execution {id} has no step at place {seq} that left something");
        Code::StepNotFound.because(detail).with("seq", seq)
    })
}

async fn read(engine: &Engine, id: ExecutionId, ask: Ask) -> Result<journal::Steps> {
    engine.check_id(id)?;
    let load = Engine::load_of(id).with_steps([journal::load_for(id, ask)]);
    let snapshot = engine.store().load(load).await?;
    let execution = engine.visible(&snapshot, id)?.clone();
    journal::read(engine, &execution, snapshot, ask).await
}
