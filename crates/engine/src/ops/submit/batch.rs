//! Many submissions at once.

use std::collections::BTreeSet;

use ff_core::command::submit::{CreateExecution, Created};
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::id::ExecutionId;
use ff_core::limits::BATCH_ITEMS_MAX;
use ff_core::partition::Partition;
use ff_core::time::Timestamp;
use futures::future::join_all;

use super::assigned_id::{AssignedId, assign_id};
use super::create::{Submission, check_submission};
use crate::directory::lanes;
use crate::engine::Engine;

/// How many executions that may live anywhere share a partition: enough to share calls on a cluster, few enough to spread.
const PARTITION_SHARE: usize = 64;

/// Hands out partitions to executions that may live anywhere: another one, by luck, for every [`PARTITION_SHARE`].
#[derive(Default)]
struct Spread {
    partition: Option<Partition>,
    taken: usize,
}

/// Submits up to 1,000, answering each in order. They go side by side: what commits at the same time shares calls.
pub(crate) async fn create_executions(engine: &Engine, commands: Vec<CreateExecution>) -> Result<Vec<Result<Created>>> {
    if commands.len() > BATCH_ITEMS_MAX {
        let detail = format!("a batch has at most {BATCH_ITEMS_MAX} items, not {}", commands.len());
        return Err(Code::BatchTooLarge.because(detail));
    }
    if commands.is_empty() {
        return Ok(Vec::new());
    }
    let assigned = assign_ids(engine, &commands, engine.store_time().await?);
    meet_lanes(engine, &commands, &assigned).await;
    let submissions = commands.iter().zip(assigned).map(|(command, assigned)| async move {
        let submission = Submission {
            engine,
            command,
            assigned: assigned?,
        };
        submission.submit().await
    });
    Ok(join_all(submissions).await)
}

fn assign_ids(engine: &Engine, commands: &[CreateExecution], now: Timestamp) -> Vec<Result<AssignedId>> {
    let mut spread = Spread::default();
    let first_uuid = commands.iter().find_map(|command| command.execution_uuid);
    let together = first_uuid.map(|uuid| engine.shared.config.counts.of_execution_uuid(uuid));
    let assigned = commands.iter().map(|command| {
        check_submission(engine, command)?;
        let anywhere = command.execution_id.is_none() && command.idempotency_key.is_none() && command.flow_id.is_none();
        let assigned = match (command.execution_uuid, together) {
            (Some(uuid), Some(partition)) if anywhere => AssignedId::given(ExecutionId::new(partition.index, uuid)),
            (None, _) if anywhere => spread.next(engine, now),
            _ => assign_id(engine, command, now)?,
        };
        Ok(AssignedId {
            submitted_at: Some(now),
            ..assigned
        })
    });
    assigned.collect()
}

/// Looks up every lane of the batch once, so that a thousand items do not ask for the same one at the same time.
async fn meet_lanes(engine: &Engine, commands: &[CreateExecution], assigned: &[Result<AssignedId>]) {
    let accepted = commands.iter().zip(assigned).filter(|(_, assigned)| assigned.is_ok());
    let lanes: BTreeSet<_> = accepted
        .map(|(command, _)| (&command.namespace, &command.lane_id))
        .collect();
    for (namespace, lane) in lanes {
        if let Err(refusal) = lanes::find_or_create(engine, namespace, lane).await {
            // The items of this lane ask again and are answered one by one.
            tracing::debug!(%namespace, %lane, %refusal, "the lane of a batch could not be looked up");
        }
    }
}

impl Spread {
    fn next(&mut self, engine: &Engine, now: Timestamp) -> AssignedId {
        let uuid = engine.mint(now);
        let counts = &engine.shared.config.counts;
        let shared = self.partition.filter(|_| !self.taken.is_multiple_of(PARTITION_SHARE));
        let partition = shared.unwrap_or_else(|| counts.of_execution_uuid(uuid));
        self.partition = Some(partition);
        self.taken += 1;
        AssignedId::minted(partition, uuid)
    }
}
