//! Eligible executions, in the order they are handed out.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::capability::Signature;
use ff_core::id::ExecutionId;
use ff_core::limits::{BUDGET_SETS_MAX, QUEUES_MAX};
use ff_core::machine::placement::{QueueKey, Score};
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::Partition;
use ff_core::time::Timestamp;

use super::groups::Groups;

/// Every queue, seen from two sides: across partitions for handing out, per partition for limits and listings.
#[derive(Default)]
pub(super) struct Queues {
    across: Groups<QueueKey, Score>,
    within: BTreeMap<Partition, Groups<QueueKey, Score>>,
    /// Where each execution stands, so that it leaves exactly there.
    places: BTreeMap<ExecutionId, (QueueKey, Score)>,
    ages: Groups<(Namespace, LaneId), (Timestamp, ExecutionId)>,
}

impl Queues {
    /// Adds an execution to the queue it wants, or to the one that takes its place; whether that queue was empty.
    pub(super) fn insert(&mut self, wanted: &QueueKey, score: Score) -> bool {
        let partition = score.id.partition();
        let queue = self.queue_for(partition, wanted);
        self.ages.insert(lane_of(&queue), (score.created_at, score.id));
        self.across.insert(queue.clone(), score);
        self.places.insert(score.id, (queue.clone(), score));
        self.within.entry(partition).or_default().insert(queue, score)
    }

    /// Removes an execution from wherever it stands.
    pub(super) fn remove(&mut self, id: ExecutionId) {
        let Some((queue, score)) = self.places.remove(&id) else {
            return;
        };
        self.ages.remove(&lane_of(&queue), &(score.created_at, id));
        self.across.remove(&queue, &score);
        if let Some(within) = self.within.get_mut(&id.partition()) {
            within.remove(&queue, &score);
        }
    }

    /// The best of a lane whose signature is `runnable`, at most `limit` of them. Other queues cost one look at their key.
    pub(super) fn best(
        &self,
        (namespace, lane): (&Namespace, &LaneId),
        limit: usize,
        runnable: impl Fn(&Signature) -> bool,
    ) -> Vec<Score> {
        let queues = lane_queues(&self.across, namespace, lane).filter(|(queue, _)| runnable(&queue.signature));
        let mut best: Vec<Score> = queues
            .flat_map(|(_, scores)| scores.iter().take(limit))
            .copied()
            .collect();
        best.sort_unstable();
        best.truncate(limit);
        best
    }

    /// The non-empty queues of a partition, in order.
    pub(super) fn of_partition(&self, partition: Partition) -> impl Iterator<Item = (&QueueKey, &BTreeSet<Score>)> {
        self.within
            .get(&partition)
            .into_iter()
            .flat_map(|within| within.range(..))
    }

    /// When the oldest execution that waits in a lane was created.
    pub(super) fn oldest(&self, namespace: &Namespace, lane: &LaneId) -> Option<Timestamp> {
        let waiting = self.ages.get(&(namespace.clone(), lane.clone()))?;
        waiting.first().map(|(created_at, _)| *created_at)
    }

    /// Every non-empty queue, in order.
    pub(super) fn keys(&self) -> impl Iterator<Item = &QueueKey> {
        self.across.range(..).map(|(queue, _)| queue)
    }

    /// Whether adding to these queues would open one too many in a lane of the partition.
    pub(super) fn would_overflow(&self, partition: Partition, wanted: impl Iterator<Item = QueueKey>) -> bool {
        let Some(within) = self.within.get(&partition) else {
            return false;
        };
        let queues = wanted.map(|wanted| self.queue_for(partition, &wanted));
        let opening: BTreeSet<QueueKey> = queues.filter(|queue| !within.contains_key(queue)).collect();
        opening.iter().any(|queue| {
            let open = lane_queues(within, &queue.namespace, &queue.lane).count();
            let more = opening.iter().filter(|other| lane_of(other) == lane_of(queue)).count();
            open + more > QUEUES_MAX
        })
    }

    /// Beyond a number of budget sets, further ones stand in the queue of their capabilities and quota without budgets:
    /// that one is never skipped for a closed budget, and admission checks them.
    fn queue_for(&self, partition: Partition, wanted: &QueueKey) -> QueueKey {
        let Some(within) = self.within.get(&partition) else {
            return wanted.clone();
        };
        let is_sibling = |queue: &QueueKey| {
            !queue.signature.budgets.is_empty()
                && queue.signature.capabilities == wanted.signature.capabilities
                && queue.signature.quota == wanted.signature.quota
        };
        let siblings = || lane_queues(within, &wanted.namespace, &wanted.lane).filter(|(queue, _)| is_sibling(queue));
        let own = wanted.signature.budgets.is_empty() || within.contains_key(wanted);
        if own || siblings().count() < BUDGET_SETS_MAX {
            return wanted.clone();
        }
        let budgets = BTreeSet::new();
        let signature = Signature {
            budgets,
            ..wanted.signature.clone()
        };
        QueueKey {
            signature,
            ..wanted.clone()
        }
    }
}

fn lane_of(queue: &QueueKey) -> (Namespace, LaneId) {
    (queue.namespace.clone(), queue.lane.clone())
}

fn lane_queues<'a>(
    queues: &'a Groups<QueueKey, Score>,
    namespace: &'a Namespace,
    lane: &'a LaneId,
) -> impl Iterator<Item = (&'a QueueKey, &'a BTreeSet<Score>)> {
    let first = QueueKey {
        namespace: namespace.clone(),
        lane: lane.clone(),
        signature: Signature::default(),
    };
    queues
        .range(first..)
        .take_while(move |(queue, _)| queue.namespace == *namespace && queue.lane == *lane)
}
