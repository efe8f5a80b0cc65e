//! Where queues begin, as far as this process knows: whatever was taken from them but cannot be cleaned up yet, because somebody holds an
//! old snapshot, stands before that, and need not be walked along by every claim.

use std::collections::BTreeMap;
use std::time::Duration;

use ff_core::partition::Partition;

/// How long a beginning is believed. What another process has added before it and could not tell of is found then.
const BELIEVED_FOR: Duration = Duration::from_millis(500);

/// The beginnings of queues, by partition and number.
#[derive(Default)]
pub(crate) struct Floors {
    partitions: BTreeMap<Partition, InPartition>,
    /// Looks that began before this one say nothing any more.
    since: u64,
    forgotten_at: Duration,
}

#[derive(Default)]
struct InPartition {
    queues: BTreeMap<i64, Floor>,
    /// As above, for the queues that nothing is known of.
    since: u64,
}

/// Nothing in the queue has a smaller score. That was seen by whoever began to look at that moment, or something was added at it.
struct Floor {
    score: i64,
    look: u64,
}

impl Floors {
    /// Forgets what is known for too long; the next look has this number.
    pub(crate) fn refresh(&mut self, now: Duration, look: u64) {
        if now.saturating_sub(self.forgotten_at) >= BELIEVED_FOR {
            self.forgotten_at = now;
            self.forget_all(look);
        }
    }

    /// The score from which on a queue is to be looked at, if any is known.
    pub(crate) fn of(&self, (partition, queue): (Partition, i64)) -> Option<i64> {
        Some(self.partitions.get(&partition)?.queues.get(&queue)?.score)
    }

    /// Something with this score is or will soon be in a queue.
    pub(crate) fn entered(&mut self, (partition, queue): (Partition, i64), score: i64, look: u64) {
        let own = self.partitions.entry(partition).or_default();
        if let Some(floor) = own.queues.get_mut(&queue) {
            floor.score = floor.score.min(score);
            floor.look = floor.look.max(look);
        } else {
            // Whoever looks at it now may have begun before this was there.
            own.since = own.since.max(look);
        }
    }

    /// This is the best that is left in a queue, or nothing is.
    pub(crate) fn settled(&mut self, (partition, queue): (Partition, i64), head: Option<i64>, look: u64) {
        let own = self.partitions.entry(partition).or_default();
        if look < self.since.max(own.since) {
            return;
        }
        let score = head.unwrap_or(i64::MAX);
        match own.queues.get_mut(&queue) {
            Some(floor) if look < floor.look => floor.score = floor.score.min(score),
            _ => {
                own.queues.insert(queue, Floor { score, look });
            }
        }
    }

    /// Another process has added something to a queue of a partition.
    pub(crate) fn forget(&mut self, partition: Partition, look: u64) {
        let queues = BTreeMap::new();
        self.partitions.insert(partition, InPartition { queues, since: look });
    }

    /// Nothing is known any more.
    pub(crate) fn forget_all(&mut self, look: u64) {
        self.partitions.clear();
        self.since = look;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUE: (Partition, i64) = (Partition::flow(3), 7);

    #[test]
    fn a_queue_begins_where_it_was_last_seen_to() {
        let mut floors = Floors::default();
        assert_eq!(floors.of(QUEUE), None);
        floors.settled(QUEUE, Some(10), 1);
        assert_eq!(floors.of(QUEUE), Some(10));
        floors.settled(QUEUE, None, 2);
        floors.entered(QUEUE, 20, 3);
        assert_eq!(floors.of(QUEUE), Some(20));
        floors.entered(QUEUE, 5, 4);
        assert_eq!(floors.of(QUEUE), Some(5));
    }

    #[test]
    fn a_look_that_began_before_something_was_added_does_not_hide_it() {
        let mut floors = Floors::default();
        floors.entered(QUEUE, 5, 2);
        floors.settled(QUEUE, Some(10), 1);
        assert_eq!(floors.of(QUEUE), None, "nothing was known before");
        floors.settled(QUEUE, Some(5), 3);
        floors.entered(QUEUE, 2, 5);
        floors.settled(QUEUE, Some(5), 4);
        assert_eq!(floors.of(QUEUE), Some(2));
    }

    #[test]
    fn what_others_may_have_added_is_looked_for() {
        let mut floors = Floors::default();
        floors.settled(QUEUE, Some(10), 1);
        floors.forget(QUEUE.0, 3);
        assert_eq!(floors.of(QUEUE), None);
        floors.settled(QUEUE, Some(10), 2);
        assert_eq!(floors.of(QUEUE), None, "that look began before they told");
        floors.settled(QUEUE, Some(10), 4);
        floors.forget_all(6);
        floors.settled(QUEUE, Some(10), 5);
        assert_eq!(floors.of(QUEUE), None);
        floors.settled(QUEUE, Some(10), 7);
        floors.refresh(BELIEVED_FOR.mul_f32(0.5), 8);
        assert_eq!(floors.of(QUEUE), Some(10));
        floors.refresh(BELIEVED_FOR, 9);
        assert_eq!(floors.of(QUEUE), None);
    }
}
