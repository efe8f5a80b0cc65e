//! Reading records, counters, blobs and nudges.

use super::store::Store;
use crate::load::{Load, Snapshot};

impl Store {
    /// A partition as it stands, as far as was asked.
    pub(super) fn load(&self, load: Load) -> Snapshot {
        let mut snapshot = Snapshot::empty(load.partition, self.now);
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
}
