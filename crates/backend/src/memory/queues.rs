//! Eligible executions, in the order they are handed out.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::capability::Signature;
use ff_core::id::ExecutionId;
use ff_core::machine::placement::{QueueKey, Score};
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::Partition;
use ff_core::time::Timestamp;

use super::groups::Groups;
use crate::queues::QueueCounts;
use crate::transaction::Transaction;

/// Every queue, seen from two sides: across partitions for handing out, per partition for limits and listings.
#[derive(Clone, Default)]
pub(super) struct Queues {
    across: Groups<QueueKey, Score>,
    within: BTreeMap<Partition, Groups<QueueKey, Score>>,
    /// Where each execution stands, so that it leaves exactly there.
    places: BTreeMap<ExecutionId, (QueueKey, Score)>,
    ages: Groups<(Namespace, LaneId), (Timestamp, ExecutionId)>,
    /// Entries [`Queues::best`] ever looked at.
    pub(super) visited: u64,
    counts: QueueCounts,
}

impl Queues {
    /// Adds an execution to the queue it wants, or to the one that takes its place; whether that queue was empty.
    pub(super) fn insert(&mut self, wanted: &QueueKey, score: Score) -> bool {
        let partition = score.id.partition();
        let queue = self.counts.queue_for(partition, wanted);
        self.ages.insert(lane_of(&queue), (score.created_at, score.id));
        self.across.insert(queue.clone(), score);
        self.places.insert(score.id, (queue.clone(), score));
        self.within.entry(partition).or_default().insert(queue.clone(), score);
        self.counts.enter(partition, &queue)
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
        self.counts.leave(id.partition(), &queue);
    }

    /// The best of a lane whose signature is `runnable`, at most `limit` of them. Other queues cost one look at their key.
    pub(super) fn best(
        &mut self,
        (namespace, lane): (&Namespace, &LaneId),
        limit: usize,
        runnable: impl Fn(&Signature) -> bool,
    ) -> Vec<Score> {
        let queues = lane_queues(&self.across, namespace, lane).filter(|(queue, _)| runnable(&queue.signature));
        let mut best: Vec<Score> = queues
            .flat_map(|(_, scores)| scores.iter().take(limit))
            .copied()
            .collect();
        self.visited += best.len() as u64;
        best.sort_unstable();
        best.truncate(limit);
        best
    }

    /// The head of every queue, and how long the queue is.
    pub(super) fn heads(&self) -> impl Iterator<Item = (Partition, &QueueKey, (&Score, u64))> {
        self.within.iter().flat_map(|(partition, queues)| {
            let queues = queues.range(..);
            queues.filter_map(|(queue, scores)| Some((*partition, queue, (scores.first()?, scores.len() as u64))))
        })
    }

    /// What waits in a queue, best first.
    pub(super) fn scores(&self, queue: &QueueKey) -> impl Iterator<Item = &Score> {
        self.across.get(queue).into_iter().flatten()
    }

    /// When the oldest execution that waits in a lane was created.
    pub(super) fn oldest(&self, namespace: &Namespace, lane: &LaneId) -> Option<Timestamp> {
        let waiting = self.ages.get(&(namespace.clone(), lane.clone()))?;
        waiting.first().map(|(created_at, _)| *created_at)
    }

    /// Whether a transaction would open one queue too many in a lane of its partition.
    pub(super) fn would_overflow(&self, transaction: &Transaction) -> bool {
        self.counts.would_overflow(transaction)
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

#[cfg(test)]
mod tests {
    use ff_core::id::BudgetId;
    use ff_core::limits::BUDGET_SETS_MAX;
    use uuid::Uuid;

    use super::*;

    fn queue(budget: usize) -> QueueKey {
        let budgets = BTreeSet::from([BudgetId::from_uuid(Uuid::from_u128(budget as u128))]);
        QueueKey {
            namespace: Namespace::default_namespace(),
            lane: LaneId::default_lane(),
            signature: Signature {
                budgets,
                ..Signature::default()
            },
        }
    }

    fn score(number: usize) -> Score {
        Score {
            priority: std::cmp::Reverse(0),
            created_at: Timestamp::from_millis(1),
            id: ExecutionId::new(0, Uuid::from_u128(number as u128)),
        }
    }

    #[test]
    fn an_execution_leaves_the_shared_queue_though_its_own_could_be_opened_by_now() {
        let mut queues = Queues::default();
        for number in 0..=BUDGET_SETS_MAX {
            queues.insert(&queue(number), score(number));
        }
        let shared = |queues: &Queues| {
            let all = queues.across.range(..);
            all.filter(|(queue, _)| queue.signature.budgets.is_empty()).count()
        };
        assert_eq!(shared(&queues), 1);
        queues.remove(score(0).id);
        queues.remove(score(BUDGET_SETS_MAX).id);
        assert_eq!(shared(&queues), 0);
        assert_eq!(queues.across.range(..).count(), BUDGET_SETS_MAX - 1);
    }
}
