//! A leased execution with all a worker needs to run it.

use ff_core::command::claim::Task;
use ff_core::command::steps::TaskJournal;
use ff_core::fabric::Result;
use ff_core::limits::PAGE_MAX;
use ff_core::record::Execution;
use futures::future::try_join3;

use super::cycle::Handed;
use super::{inputs, resumed};
use crate::engine::Engine;
use crate::fault::internal;
use crate::journal::{self, Ask};

/// Bytes of steps a task brings; its worker reads the rest.
const JOURNAL_BYTES_MAX: u64 = 512 * 1024;

/// The task of a leased execution. Most need no further read; those of one round share theirs.
pub(super) async fn assemble(engine: &Engine, handed: Handed) -> Result<Task> {
    let Handed {
        execution, input, now, ..
    } = handed;
    let (Some(lease), Some(attempt)) = (execution.lease(), &execution.attempt) else {
        return Err(internal("a task was asked for of an execution that has no lease"));
    };
    let (inputs, resumed, journal) = try_join3(
        inputs::read(engine, &execution),
        resumed::read(engine, &execution),
        read_journal(engine, &execution),
    )
    .await?;
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
        journal,
        now,
    })
}

/// What was done already; nothing is read of an execution that has recorded nothing.
async fn read_journal(engine: &Engine, execution: &Execution) -> Result<Option<TaskJournal>> {
    let known = &execution.steps;
    if known.count == 0 {
        return Ok(None);
    }
    let ask = Ask {
        from_seq: 0,
        limit: PAGE_MAX,
        output_bytes: Some(JOURNAL_BYTES_MAX),
        forgotten: false,
    };
    let steps = journal::load(execution, ask);
    let steps = journal::read(engine, execution, engine.store().load(steps).await?, ask).await?;
    Ok(Some(TaskJournal {
        count: known.count,
        bytes: known.bytes,
        steps: steps.items,
        next: steps.next,
    }))
}
