//! Which queue an execution waits in, when a lane has very many signatures.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::capability::Signature;
use ff_core::limits::{BUDGET_SETS_MAX, QUEUES_MAX};
use ff_core::machine::placement::QueueKey;
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::Partition;

use crate::transaction::Transaction;

/// A lane of a namespace.
type Lane = (Namespace, LaneId);

/// How many executions wait in each queue of each partition; a backend keeps one beside its queues.
#[derive(Clone, Debug, Default)]
pub struct QueueCounts {
    lanes: BTreeMap<Partition, BTreeMap<Lane, BTreeMap<Signature, u64>>>,
}

impl QueueCounts {
    /// The queue an execution that wants `wanted` stands in.
    ///
    /// Beyond a number of budget sets, further ones share the queue of their capabilities and quota without budgets: that one
    /// is never skipped for a closed budget, and admission checks them.
    pub fn queue_for(&self, partition: Partition, wanted: &QueueKey) -> QueueKey {
        let Some(queues) = self.lane(partition, &lane_of(wanted)) else {
            return wanted.clone();
        };
        let signature = &wanted.signature;
        if signature.budgets.is_empty() || queues.contains_key(signature) || !is_crowded(queues, signature) {
            return wanted.clone();
        }
        QueueKey {
            signature: Signature {
                budgets: BTreeSet::new(),
                ..signature.clone()
            },
            ..wanted.clone()
        }
    }

    /// The non-empty queues of a partition, in order, and how many wait in each.
    pub fn of_partition(&self, partition: Partition) -> impl Iterator<Item = (QueueKey, u64)> {
        let lanes = self.lanes.get(&partition).into_iter().flatten();
        lanes.flat_map(|((namespace, lane), queues)| {
            queues.iter().map(move |(signature, count)| {
                let (namespace, lane, signature) = (namespace.clone(), lane.clone(), signature.clone());
                (
                    QueueKey {
                        namespace,
                        lane,
                        signature,
                    },
                    *count,
                )
            })
        })
    }

    /// Counts an execution into `queue`; whether the queue was empty.
    pub fn enter(&mut self, partition: Partition, queue: &QueueKey) -> bool {
        let count = self.count_mut(partition, queue);
        *count += 1;
        *count == 1
    }

    /// Counts `by` executions that stood in `queue` when the store was opened.
    pub fn load(&mut self, partition: Partition, queue: &QueueKey, by: u64) {
        *self.count_mut(partition, queue) += by;
    }

    /// Counts an execution out of `queue`.
    pub fn leave(&mut self, partition: Partition, queue: &QueueKey) {
        let Some(lanes) = self.lanes.get_mut(&partition) else {
            return;
        };
        let key = lane_of(queue);
        let Some(lane) = lanes.get_mut(&key) else { return };
        if let Some(count) = lane.get_mut(&queue.signature) {
            *count -= 1;
            if *count == 0 {
                lane.remove(&queue.signature);
            }
        }
        if lane.is_empty() {
            lanes.remove(&key);
        }
    }

    /// Whether a transaction would open one queue too many in a lane of its partition.
    pub fn would_overflow(&self, transaction: &Transaction) -> bool {
        let partition = transaction.partition;
        let mut opening: BTreeMap<Lane, BTreeSet<Signature>> = BTreeMap::new();
        for wanted in transaction.wanted_queues() {
            let queue = self.queue_for(partition, &wanted);
            let lane = lane_of(&queue);
            let exists = self
                .lane(partition, &lane)
                .is_some_and(|lane| lane.contains_key(&queue.signature));
            if !exists {
                opening.entry(lane).or_default().insert(queue.signature);
            }
        }
        opening.iter().any(|(lane, more)| {
            let open = self.lane(partition, lane).map_or(0, BTreeMap::len);
            open + more.len() > QUEUES_MAX
        })
    }

    fn lane(&self, partition: Partition, lane: &Lane) -> Option<&BTreeMap<Signature, u64>> {
        self.lanes.get(&partition)?.get(lane)
    }

    fn count_mut(&mut self, partition: Partition, queue: &QueueKey) -> &mut u64 {
        let lane = self
            .lanes
            .entry(partition)
            .or_default()
            .entry(lane_of(queue))
            .or_default();
        lane.entry(queue.signature.clone()).or_default()
    }
}

fn lane_of(queue: &QueueKey) -> Lane {
    (queue.namespace.clone(), queue.lane.clone())
}

/// Whether as many budget sets as may have a queue of their own stand beside this one.
fn is_crowded(queues: &BTreeMap<Signature, u64>, wanted: &Signature) -> bool {
    let is_sibling = |queue: &&Signature| {
        !queue.budgets.is_empty() && queue.capabilities == wanted.capabilities && queue.quota == wanted.quota
    };
    queues.len() >= BUDGET_SETS_MAX && queues.keys().filter(is_sibling).count() >= BUDGET_SETS_MAX
}
