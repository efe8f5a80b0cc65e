//! Queues: their numbers in the database, and which of them have work as far as this process knows.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Mutex;

use ff_backend::Result;
use ff_backend::codec::score;
use ff_backend::hint::Hint;
use ff_backend::queues::Moment;
use ff_backend::transaction::Transaction;
use ff_core::capability::Signature;
use ff_core::digest::Digest;
use ff_core::id::ExecutionId;
use ff_core::limits::{BUDGET_SETS_MAX, QUEUES_MAX};
use ff_core::machine::placement::{QueueKey, queue_of};
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::{Family, Partition};
use ff_core::time::Timestamp;

use crate::call::call;
use crate::error::corrupt;
use crate::rows::answered;
use crate::shared::{Shared, locked, number, partition};

/// What is seen of queues has no generation: a look of this process is before or after another one.
const fn seen_at(look: u64) -> Moment {
    Moment {
        generation: 0,
        changes: look,
    }
}

/// The numbers of queues that the store was told of.
pub(crate) type QueueNumbers = Mutex<HashMap<QueueKey, i64>>;

/// The queues that the transactions of a call enter.
#[derive(Default)]
pub(crate) struct Plan {
    places: BTreeMap<(usize, ExecutionId), Place>,
}

struct Place {
    queue: QueueKey,
    number: i64,
    score: i64,
}

impl Plan {
    /// The number of the queue an execution enters, and its score there.
    pub(crate) fn queue_of(&self, nth: usize, id: ExecutionId) -> Option<(i64, i64)> {
        self.places.get(&(nth, id)).map(|place| (place.number, place.score))
    }

    /// The numbers of the queues that are entered.
    pub(crate) fn queues(&self) -> Vec<i64> {
        let numbers = self.places.values().map(|place| place.number);
        BTreeSet::from_iter(numbers).into_iter().collect()
    }

    /// The lanes that have work now.
    pub(crate) fn hints(&self) -> Vec<Hint> {
        let hint = |((_, id), place): (&(usize, ExecutionId), &Place)| Hint::Eligible {
            partition: id.partition(),
            namespace: place.queue.namespace.clone(),
            lane: place.queue.lane.clone(),
        };
        self.places.iter().map(hint).collect()
    }
}

/// How a lane is called in the picture of the filled queues.
pub(crate) fn lane_name(namespace: &Namespace, lane: &LaneId) -> String {
    format!("{namespace}/{lane}")
}

answered! {
    /// What a queue stands for.
    QueueName as "queue_name" { namespace: String, lane: String, signature: String }
    /// The head of a queue, as the store finds it.
    QueueHead as "queue_head" {
        partition: i16, queue_id: i64, name: QueueName, score: i64, uuid: uuid::Uuid, length: i64,
    }
}

impl QueueName {
    pub(crate) fn key(self) -> Result<QueueKey> {
        Ok(QueueKey {
            namespace: Namespace::parse(self.namespace).map_err(corrupt)?,
            lane: LaneId::parse(self.lane).map_err(corrupt)?,
            signature: serde_json::from_str(&self.signature).map_err(corrupt)?,
        })
    }
}

impl Shared {
    /// Which queues some transactions enter; or which of them would open one queue too many.
    ///
    /// Beyond a number of budget sets, further ones share the queue of their capabilities and quota without budgets. Both limits go by
    /// what this process knows of the queues: they guard, and need not be exact.
    pub(crate) async fn plan_queues(
        &self,
        transactions: &[&Transaction],
    ) -> Result<std::result::Result<Plan, Vec<usize>>> {
        let (mut plan, mut crowded) = (Plan::default(), Vec::new());
        for (nth, transaction) in transactions.iter().enumerate() {
            for put in &transaction.puts {
                let Some((wanted, place)) = queue_of(&put.record) else {
                    continue;
                };
                let Some(queue) = self.choose_queue(transaction, wanted) else {
                    crowded.push(nth);
                    continue;
                };
                let number = self.queue_number(&queue).await?;
                let score = score::number(&place);
                self.saw_queue(transaction.partition, &queue, number, score, 0);
                plan.places.insert((nth, place.id), Place { queue, number, score });
            }
        }
        crowded.dedup();
        Ok(if crowded.is_empty() { Ok(plan) } else { Err(crowded) })
    }

    /// The queue an execution enters, its own or a shared one; none where there are too many.
    fn choose_queue(&self, transaction: &Transaction, wanted: QueueKey) -> Option<QueueKey> {
        let lane = lane_name(&wanted.namespace, &wanted.lane);
        let filled = self.filled_queues();
        let here = filled.signatures(&lane, transaction.partition);
        let signature = &wanted.signature;
        let is_sibling = |other: &&Signature| {
            !other.budgets.is_empty() && other.capabilities == signature.capabilities && other.quota == signature.quota
        };
        let (mut count, mut siblings, mut is_there) = (0, 0, false);
        for other in here {
            count += 1;
            siblings += usize::from(is_sibling(&other));
            is_there |= other == signature;
        }
        if is_there {
            return Some(wanted);
        }
        if !signature.budgets.is_empty() && siblings >= BUDGET_SETS_MAX {
            let budgets = BTreeSet::new();
            let signature = Signature {
                budgets,
                ..signature.clone()
            };
            return Some(QueueKey { signature, ..wanted });
        }
        (!transaction.limits_queues || count < QUEUES_MAX).then_some(wanted)
    }

    /// The number of a queue. It follows from what the queue is, so that no failover and no restore can give it to another one; the store is
    /// told what it stands for.
    pub(crate) async fn queue_number(&self, queue: &QueueKey) -> Result<i64> {
        if let Some(number) = locked(&self.queue_numbers).get(queue) {
            return Ok(*number);
        }
        let signature = serde_json::to_string(&queue.signature).map_err(corrupt)?;
        let (namespace, lane) = (queue.namespace.as_str(), queue.lane.as_str());
        let digest = Digest::of("queue", [namespace, lane, &signature].map(str::as_bytes));
        let (first, _) = digest.uuid().as_u64_pair();
        let number = (first >> 1).cast_signed();
        let asked = call!(writing name_queue(
            own_queue_id: &number, own_namespace: &namespace, own_lane: &lane, own_signature: &signature));
        self.connections.row(asked).await?;
        locked(&self.queue_numbers).insert(queue.clone(), number);
        Ok(number)
    }

    /// Something with this score is believed to be in a queue, and so many entries are known to be.
    pub(crate) fn saw_queue(&self, partition: Partition, queue: &QueueKey, number: i64, score: i64, entries: usize) {
        let (lane, place) = (
            lane_name(&queue.namespace, &queue.lane),
            (partition, number.to_string()),
        );
        let look = self.next_look();
        self.floors().entered((partition, number), score, look);
        let seen = seen_at(look);
        let mut filled = self.filled_queues();
        match entries {
            0 => filled.saw(&lane, place, &queue.signature, as_head(score), seen),
            _ => filled.entered(&lane, place, &queue.signature, as_head(score), seen),
        }
    }

    /// What was planned has happened.
    pub(crate) fn entered(&self, plan: &Plan) {
        for ((_, id), place) in &plan.places {
            self.saw_queue(id.partition(), &place.queue, place.number, place.score, 1);
        }
    }

    /// A queue was found like this by somebody who began to look at that moment.
    pub(crate) fn settle_queue(&self, lane: &str, place: &(Partition, String), score: Option<i64>, look: u64) {
        self.filled_queues()
            .settled(lane, place, score.map(as_head), seen_at(look));
    }

    /// Brings the picture of the queues up to date, if it was looked at long enough ago to be doubted; whether it did.
    pub(crate) async fn look_for_queues(&self) -> Result<bool> {
        let now = self.elapsed();
        if !self.filled_queues().is_doubtful(now) {
            return Ok(false);
        }
        // Before the look: whoever comes meanwhile need not look too.
        self.filled_queues().swept(now);
        let partitions: Vec<i16> = self.counts.all(Family::Flow).map(number).collect();
        let (_, heads) = self
            .queue_heads(&partitions, 0)
            .await
            .inspect_err(|_| self.filled_queues().doubt())?;
        for head in heads {
            let (partition, number, score) = (partition(head.partition), head.queue_id, head.score);
            self.saw_queue(partition, &head.name.key()?, number, score, 0);
        }
        Ok(true)
    }

    /// The queues of some partitions that have anything, with what is best in each, and how many are in each as far as they are
    /// counted.
    pub(crate) async fn queue_heads(&self, partitions: &[i16], count: i64) -> Result<(Timestamp, Vec<QueueHead>)> {
        let asked = call!(reading queue_heads(partitions: &partitions, count_max: &count));
        let (now, answer) = self.ask(asked).await?;
        Ok((now, answer.get("answer")?))
    }
}

/// A score as the picture of the queues has it; it is below 2^53.
#[expect(
    clippy::cast_precision_loss,
    reason = "every score is a number that a double holds exactly"
)]
fn as_head(score: i64) -> f64 {
    score as f64
}
