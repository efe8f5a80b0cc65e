//! Handing out.

use ff_core::id::ExecutionId;
use ff_core::limits::RESERVE_BYTES_MAX;
use ff_core::machine::claim::{self, Claimant, Surroundings};
use ff_core::record::{BlobKey, Execution, Gate, Record, RecordKey};

use super::store::Store;
use crate::reserve::{Reservation, Reserve, Task};
use crate::transaction::Version;

impl Store {
    /// Hands out the best eligible executions a worker can run.
    pub(super) fn reserve(&mut self, ask: &Reserve) -> Reservation {
        let mut reservation = Reservation {
            now: self.now,
            tasks: Vec::new(),
            cut: false,
        };
        let mut bytes = 0;
        for lane in &ask.lanes {
            let wanted = ask.claimants.len() - reservation.tasks.len();
            let best = self
                .queues
                .best((&ask.namespace, lane), wanted, |signature| ask.can_run(signature));
            for (score, claimant) in best.iter().zip(&ask.claimants[reservation.tasks.len()..]) {
                bytes += self.input_bytes(score.id);
                if bytes > RESERVE_BYTES_MAX as u64 && !reservation.tasks.is_empty() {
                    reservation.cut = true;
                    return reservation;
                }
                reservation.tasks.extend(self.hand_out(score.id, claimant, ask));
            }
        }
        reservation
    }

    fn input_bytes(&self, id: ExecutionId) -> u64 {
        self.execution(id)
            .map_or(0, |(execution, _)| execution.definition.input_bytes)
    }

    fn hand_out(&mut self, id: ExecutionId, claimant: &Claimant, ask: &Reserve) -> Option<Task> {
        let (execution, version) = self.execution(id)?;
        let gate = self.gate_of(execution);
        let surroundings = Surroundings {
            now: self.now,
            gate: gate.as_ref().map(|(gate, _)| gate.state),
        };
        let queued_since = execution.updated_at;
        let reserved = claim::hand_out(execution, claimant, ask.mode, surroundings);
        let task = Task {
            execution: reserved.execution.clone(),
            version: version.next(ask.tag),
            queued_since,
            handed_out: reserved.handed_out,
            claimant: claimant.clone(),
            input: self.input_of(id),
            gate,
        };
        self.write(id.partition(), reserved.execution.into(), task.version, None);
        self.tell(id.partition(), reserved.history);
        self.move_counters(id.partition(), &reserved.increments);
        Some(task)
    }

    fn input_of(&self, id: ExecutionId) -> ff_core::payload::Payload {
        let partition = self.partitions.get(&id.partition());
        let input = partition.and_then(|partition| partition.blobs.get(&BlobKey::Input(id)));
        input.cloned().unwrap_or_default()
    }

    fn gate_of(&self, execution: &Execution) -> Option<(Gate, Version)> {
        let flow_id = execution.definition.flow?;
        let stored = self.stored(execution.id.partition(), &RecordKey::Gate(flow_id))?;
        match &stored.record {
            Record::Gate(gate) => Some((gate.clone(), stored.version)),
            _ => None,
        }
    }
}
