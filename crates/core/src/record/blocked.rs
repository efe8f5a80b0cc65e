//! Where work waits for a budget or a quota.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::partition::Partition;

/// The flow partitions that may hold work blocked by one cause: never too few, sometimes too many.
///
/// Each is kept with the generation its cause had when it was last marked. A mark is made before the block, a release
/// raises the generation before it looks, and forgets only marks older than that. So whoever marked too early to be kept
/// sees a moved generation after its block and releases what it blocked; nobody's work is forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BlockedIn(BTreeMap<u16, u64>);

impl BlockedIn {
    /// Work is about to be blocked in `partition` under `generation`.
    pub fn mark(&mut self, partition: Partition, generation: u64) {
        self.0.insert(partition.index, generation);
    }

    /// A release that began with generation `round` found nothing left in `partition`.
    pub fn forget(&mut self, partition: Partition, round: u64) {
        if self.0.get(&partition.index).is_some_and(|marked| *marked < round) {
            self.0.remove(&partition.index);
        }
    }

    /// Whether no work waits anywhere.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The partitions to look into, in order.
    pub fn partitions(&self) -> impl Iterator<Item = Partition> {
        self.0.keys().copied().map(Partition::flow)
    }
}
