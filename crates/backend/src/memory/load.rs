//! Reading records, counters, blobs and nudges.

use ff_core::name::StepKey;
use ff_core::record::{BlobKey, Record, RecordKey};

use super::store::Store;
use crate::load::{Load, LoadSteps, Snapshot};

impl Store {
    /// A partition as it stands, as far as was asked.
    pub(super) fn load(&self, load: Load) -> Snapshot {
        let mut snapshot = Snapshot::empty(load.partition, self.now);
        snapshot.generation = self.generation;
        let partition = self.partitions.get(&load.partition);
        let agenda = self.agendas.get(&load.partition);
        for key in load.records {
            if let Some(stamp) = agenda.and_then(|agenda| agenda.stamp(&key)) {
                snapshot.nudges.insert(key.clone(), stamp);
            }
            if let Some(stored) = partition.and_then(|partition| partition.records.get(&key)) {
                snapshot.records.insert(key, (stored.record.clone(), stored.version));
            }
        }
        if load.with_gates {
            self.add_gates(&mut snapshot);
        }
        for key in load.counters {
            let value = partition.and_then(|partition| partition.counters.get(&key));
            snapshot.counters.insert(key, value.copied().unwrap_or(0));
        }
        for key in load.blobs {
            if let Some(payload) = partition.and_then(|partition| partition.blobs.get(&key)) {
                snapshot.blobs.insert(key, payload.clone());
            }
        }
        for steps in load.steps {
            self.add_steps(&mut snapshot, steps);
        }
        snapshot
    }

    fn add_steps(&self, snapshot: &mut Snapshot, asked: LoadSteps) {
        let id = asked.execution_id;
        let (Some(partition), Ok(first)) = (self.partitions.get(&snapshot.partition), StepKey::parse("!")) else {
            return;
        };
        let recorded = partition.records.range(RecordKey::Step(id, first)..);
        let of_execution = recorded.map_while(|(_, stored)| match &stored.record {
            Record::Step(step) if step.execution_id == id => Some((step, stored)),
            _ => None,
        });
        let mut steps: Vec<_> = of_execution.filter(|(step, _)| step.seq >= asked.from_seq).collect();
        steps.sort_unstable_by_key(|(step, _)| step.seq);
        let mut left = Some(asked.output_bytes);
        for (step, stored) in steps.into_iter().take(asked.limit) {
            if let Some(bytes) = step.output_bytes {
                left = left.and_then(|left| left.checked_sub(bytes));
                let blob = BlobKey::Step(id, step.seq);
                let output = partition.blobs.get(&blob).filter(|_| left.is_some());
                snapshot.blobs.extend(output.map(|output| (blob, output.clone())));
            }
            let record = (stored.record.clone(), stored.version);
            snapshot.records.insert(stored.record.key(), record);
        }
    }

    /// Adds the gates of the flows that the executions of the snapshot are members of.
    fn add_gates(&self, snapshot: &mut Snapshot) {
        for key in snapshot.gates() {
            if let Some(stored) = self.stored(snapshot.partition, &key) {
                snapshot.records.insert(key, (stored.record.clone(), stored.version));
            }
        }
    }
}
