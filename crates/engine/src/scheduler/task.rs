//! A leased execution with all a worker needs to run it.

use ff_core::command::claim::Task;
use ff_core::fabric::Result;
use futures::future::try_join;

use super::cycle::Handed;
use super::{inputs, resumed};
use crate::engine::Engine;
use crate::fault::internal;

/// The task of a leased execution. Most need no further read; those of one round share theirs.
pub(super) async fn assemble(engine: &Engine, handed: Handed) -> Result<Task> {
    let Handed {
        execution, input, now, ..
    } = handed;
    let (Some(lease), Some(attempt)) = (execution.lease(), &execution.attempt) else {
        return Err(internal("a task was asked for of an execution that has no lease"));
    };
    let (inputs, resumed) = try_join(inputs::read(engine, &execution), resumed::read(engine, &execution)).await?;
    let definition = &execution.definition;
    Ok(Task {
        execution_id: execution.id,
        namespace: definition.namespace.clone(),
        lane: definition.lane.clone(),
        execution_kind: definition.kind.clone(),
        input,
        inputs: inputs.handed,
        inputs_omitted: inputs.omitted,
        tags: (*execution.tags).clone(),
        flow_id: definition.flow,
        attempt_index: attempt.index,
        attempt_kind: attempt.kind,
        fence: lease.fence(attempt.id),
        expires_at: lease.expires_at,
        deadline_at: execution.deadline_at,
        tier: definition.policy.tier(attempt.tier).cloned(),
        resumed,
        now,
    })
}
