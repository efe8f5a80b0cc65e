//! Which id and partition a submission gets.

use ff_core::command::submit::{CreateExecution, Created};
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::id::ExecutionId;
use ff_core::partition::Partition;
use ff_core::time::Timestamp;
use uuid::Uuid;

use crate::engine::Engine;

/// The id of an execution to be created, and whether anybody but this call can know it.
#[derive(Clone, Copy, Debug)]
pub(super) struct AssignedId {
    pub(super) id: ExecutionId,
    pub(super) minted: bool,
    /// When all of its batch were submitted: among those of one moment the order of their ids holds, which is that of the
    /// batch. Absent: when it is written.
    pub(super) submitted_at: Option<Timestamp>,
}

impl AssignedId {
    /// An id that was given.
    pub(super) const fn given(id: ExecutionId) -> Self {
        Self {
            id,
            minted: false,
            submitted_at: None,
        }
    }

    /// A fresh id in `partition`.
    pub(super) const fn minted(partition: Partition, uuid: Uuid) -> Self {
        Self {
            minted: true,
            ..Self::given(ExecutionId::new(partition.index, uuid))
        }
    }

    /// What the caller is told. An execution found under an id nobody else knows is this call's own, whose reply was lost.
    pub(super) fn told(self, created: Created) -> Created {
        match created {
            Created::Duplicate { execution_id, .. } if self.minted && execution_id == self.id => {
                Created::Created { execution_id }
            }
            created => created,
        }
    }
}

/// The id of one submission: the one it was given, or a fresh one where its flow or key demands, or wherever luck puts it.
pub(super) fn assign_id(engine: &Engine, command: &CreateExecution, now: Timestamp) -> Result<AssignedId> {
    let demanded = demanded_partition(engine, command);
    if let Some(id) = command.execution_id {
        check_given(engine, command, id, demanded)?;
        return Ok(AssignedId::given(id));
    }
    let partition = |uuid| demanded.unwrap_or_else(|| engine.shared.config.counts.of_execution_uuid(uuid));
    if let Some(uuid) = command.execution_uuid {
        return Ok(AssignedId::given(ExecutionId::new(partition(uuid).index, uuid)));
    }
    let uuid = engine.mint(now);
    Ok(AssignedId::minted(partition(uuid), uuid))
}

/// The only partition a submission can live in, if there is only one: that of its flow, or the one where equal keys meet.
fn demanded_partition(engine: &Engine, command: &CreateExecution) -> Option<Partition> {
    let counts = &engine.shared.config.counts;
    match (command.flow_id, &command.idempotency_key) {
        (Some(flow), _) => Some(counts.of_flow(flow)),
        (None, Some(key)) => Some(counts.of_idempotency_key(&command.namespace, key)),
        (None, None) => None,
    }
}

fn check_given(engine: &Engine, command: &CreateExecution, id: ExecutionId, demanded: Option<Partition>) -> Result<()> {
    engine.check_id(id)?;
    let Some(partition) = demanded.filter(|partition| *partition != id.partition()) else {
        return Ok(());
    };
    Err(match command.flow_id {
        Some(flow) => {
            Code::PartitionMismatch.because(format!("execution {id} does not live in {partition}, as flow {flow} does"))
        }
        None => Code::InvalidInput.because(format!(
            "execution {id} and its idempotency key, which lives in {partition}, are of different partitions: leave one of them out"
        )),
    })
}
