//! Reading records, counters, blobs and nudges.

use ff_core::record::{Record, RecordKey};

use super::store::Store;
use crate::load::{Load, Snapshot};

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
        snapshot
    }

    /// Adds the gates of the flows that the executions of the snapshot are members of.
    fn add_gates(&self, snapshot: &mut Snapshot) {
        let records = snapshot.records.values().map(|(record, _)| record);
        let gates: Vec<RecordKey> = records.filter_map(gate_of).collect();
        for key in gates {
            if let Some(stored) = self.stored(snapshot.partition, &key) {
                snapshot.records.insert(key, (stored.record.clone(), stored.version));
            }
        }
    }
}

fn gate_of(record: &Record) -> Option<RecordKey> {
    match record {
        Record::Execution(execution) => execution.definition.flow.map(RecordKey::Gate),
        _ => None,
    }
}
