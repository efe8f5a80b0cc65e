//! The store's time between two replies: the last one seen, and what has passed here since. It is never ahead of the store,
//! because a reply is always older than the moment it is read.

use std::sync::atomic::{AtomicU64, Ordering};

use ff_core::partition::{Family, Partition, PartitionCounts};
use ff_core::time::Timestamp;

use crate::host::Host;

/// What is known about the clock of every partition.
pub(crate) struct StoreClock {
    families: [Vec<AtomicU64>; 3],
}

impl StoreClock {
    pub(crate) fn new(counts: PartitionCounts) -> Self {
        let family = |family| (0..counts.count(family)).map(|_| AtomicU64::new(0)).collect();
        Self {
            families: [family(Family::Flow), family(Family::Budget), family(Family::Quota)],
        }
    }

    /// A reply of `partition` said that it is `now` there.
    pub(crate) fn saw(&self, host: &dyn Host, partition: Partition, now: Timestamp) {
        if let Some(start) = self.start_of(partition) {
            start.store(now.as_millis().saturating_sub(local_millis(host)), Ordering::Relaxed);
        }
    }

    /// The time of `partition`; `None` when it never answered.
    pub(crate) fn now(&self, host: &dyn Host, partition: Partition) -> Option<Timestamp> {
        let start = self.start_of(partition)?.load(Ordering::Relaxed);
        (start > 0).then(|| Timestamp::from_millis(start + local_millis(host)))
    }

    /// The latest time any flow partition is known to have.
    pub(crate) fn latest(&self, host: &dyn Host) -> Option<Timestamp> {
        let starts = self.families[0].iter().map(|start| start.load(Ordering::Relaxed));
        let start = starts.max().filter(|start| *start > 0)?;
        Some(Timestamp::from_millis(start + local_millis(host)))
    }

    /// When the host's clock stood at zero, by the clock of the partition.
    fn start_of(&self, partition: Partition) -> Option<&AtomicU64> {
        let family = match partition.family {
            Family::Flow => 0,
            Family::Budget => 1,
            Family::Quota => 2,
        };
        self.families[family].get(usize::from(partition.index))
    }
}

fn local_millis(host: &dyn Host) -> u64 {
    u64::try_from(host.elapsed().as_millis()).unwrap_or(u64::MAX)
}
