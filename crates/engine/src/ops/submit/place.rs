//! Which id and partition a submission gets.

use ff_core::command::submit::{CreateExecution, Created};
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::id::ExecutionId;
use ff_core::partition::Partition;
use ff_core::time::Timestamp;
use uuid::Uuid;

use crate::engine::Engine;

/// Where an execution is created, and whether anybody but this call can know its id.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) id: ExecutionId,
    pub(super) minted: bool,
    /// When all of its batch were submitted: among those of one moment the order of their ids holds, which is that of the
    /// batch. Absent: when it is written.
    pub(super) submitted_at: Option<Timestamp>,
}

impl Place {
    /// A fresh id in `partition`.
    pub(super) const fn minted(partition: Partition, uuid: Uuid) -> Self {
        Self {
            id: ExecutionId::new(partition.index, uuid),
            minted: true,
            submitted_at: None,
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

impl Engine {
    /// The place of one submission: as it was given, or where its flow or key demands, or wherever luck puts it.
    pub(super) fn place(&self, command: &CreateExecution, now: Timestamp) -> Result<Place> {
        let demanded = self.demanded_partition(command);
        if let Some(id) = command.execution_id {
            self.check_given(command, id, demanded)?;
            return Ok(Place {
                id,
                minted: false,
                submitted_at: None,
            });
        }
        let uuid = self.mint(now);
        let partition = demanded.unwrap_or_else(|| self.shared.config.counts.of_execution_uuid(uuid));
        Ok(Place::minted(partition, uuid))
    }

    /// The only partition a submission can live in, if there is only one: that of its flow, or the one where equal keys meet.
    fn demanded_partition(&self, command: &CreateExecution) -> Option<Partition> {
        let counts = &self.shared.config.counts;
        match (command.flow_id, &command.idempotency_key) {
            (Some(flow), _) => Some(counts.of_flow(flow)),
            (None, Some(key)) => Some(counts.of_idempotency_key(&command.namespace, key)),
            (None, None) => None,
        }
    }

    fn check_given(&self, command: &CreateExecution, id: ExecutionId, demanded: Option<Partition>) -> Result<()> {
        self.check_id(id)?;
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
}
