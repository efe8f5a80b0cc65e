//! Submitting many tasks.

use std::sync::Arc;

use ff_core::command::submit::{CreateExecution, Created};
use ff_core::fabric::Fabric;
use ff_core::id::ExecutionId;
use ff_core::name::ExecutionKind;
use ff_core::payload::Payload;

/// Tasks in a call.
pub(super) const BATCH: usize = 256;

/// A task with an input of so many bytes.
pub(super) fn task(payload: usize) -> anyhow::Result<CreateExecution> {
    Ok(CreateExecution::new(
        ExecutionKind::parse("bench")?,
        Payload::binary(vec![7; payload]),
    ))
}

/// Submits so many such tasks by so many submitters at the same time. Where there are several ways to the engine each has one of them.
pub(super) async fn submit(
    fabrics: &[Arc<dyn Fabric>],
    submitters: usize,
    tasks: usize,
    command: &CreateExecution,
) -> anyhow::Result<Vec<ExecutionId>> {
    let share = |(number, share): (usize, std::ops::Range<usize>)| {
        let (fabric, command) = (Arc::clone(&fabrics[number % fabrics.len()]), command.clone());
        tokio::spawn(async move {
            let mut ids = Vec::with_capacity(share.len());
            while ids.len() < share.len() {
                let count = (share.len() - ids.len()).min(BATCH);
                ids.extend(submit_batch(&*fabric, count, &command).await?);
            }
            anyhow::Ok(ids)
        })
    };
    let submitters: Vec<_> = shares(tasks, submitters).into_iter().enumerate().map(share).collect();
    let mut ids = Vec::with_capacity(tasks);
    for submitter in submitters {
        ids.extend(submitter.await??);
    }
    Ok(ids)
}

/// Submits so many such tasks in one call.
pub(super) async fn submit_batch(
    fabric: &dyn Fabric,
    count: usize,
    command: &CreateExecution,
) -> anyhow::Result<Vec<ExecutionId>> {
    let created = fabric.create_executions(vec![command.clone(); count]).await?;
    let id = |created| match created {
        Created::Created { execution_id } => Ok(execution_id),
        Created::Duplicate { execution_id, .. } => Err(anyhow::anyhow!("{execution_id} was there before")),
    };
    created.into_iter().map(|created| id(created?)).collect()
}

/// The numbers of the tasks that each submitter submits.
pub(super) fn shares(tasks: usize, submitters: usize) -> Vec<std::ops::Range<usize>> {
    let submitters = submitters.max(1);
    let bound = |nth: usize| tasks * nth / submitters;
    (0..submitters).map(|nth| bound(nth)..bound(nth + 1)).collect()
}
