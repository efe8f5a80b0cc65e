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
    known: BTreeMap<Partition, BTreeMap<i64, Floor>>,
    since: Duration,
}

/// Nothing in the queue has a smaller score. That was seen by whoever began to look at that moment, or something was added at it.
struct Floor {
    score: i64,
    look: u64,
}

impl Floors {
    /// The score from which on a queue is to be looked at, if any is known at this moment.
    pub(crate) fn of(&mut self, (partition, queue): (Partition, i64), now: Duration) -> Option<i64> {
        if now.saturating_sub(self.since) >= BELIEVED_FOR {
            self.known.clear();
            self.since = now;
        }
        let floor = self.known.get(&partition)?.get(&queue)?;
        (floor.score > i64::MIN).then_some(floor.score)
    }

    /// Something with this score is or will soon be in a queue.
    pub(crate) fn entered(&mut self, (partition, queue): (Partition, i64), score: i64, look: u64) {
        let of_partition = self.known.entry(partition).or_default();
        // Whoever looks at a queue that nothing is known of may have begun before this was there.
        let floor = of_partition.entry(queue).or_insert(Floor { score: i64::MIN, look });
        floor.score = floor.score.min(score);
        floor.look = floor.look.max(look);
    }

    /// This is the best that is left in a queue, or nothing is.
    pub(crate) fn settled(&mut self, (partition, queue): (Partition, i64), head: Option<i64>, look: u64) {
        let seen = Floor {
            score: head.unwrap_or(i64::MAX),
            look,
        };
        let of_partition = self.known.entry(partition).or_default();
        let floor = of_partition.entry(queue).or_insert(Floor {
            score: i64::MIN,
            look: 0,
        });
        if floor.look < look {
            *floor = seen;
        } else {
            floor.score = floor.score.min(seen.score);
        }
    }

    /// Another process has added something to a queue of a partition.
    pub(crate) fn forget(&mut self, partition: Partition) {
        self.known.remove(&partition);
    }

    /// Nothing is known any more.
    pub(crate) fn forget_all(&mut self) {
        self.known.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUE: (Partition, i64) = (Partition::flow(3), 7);
    const NOW: Duration = Duration::from_millis(400);

    #[test]
    fn a_queue_begins_where_it_was_last_seen_to() {
        let mut floors = Floors::default();
        assert_eq!(floors.of(QUEUE, NOW), None);
        floors.settled(QUEUE, Some(10), 1);
        assert_eq!(floors.of(QUEUE, NOW), Some(10));
        floors.settled(QUEUE, None, 2);
        floors.entered(QUEUE, 20, 3);
        assert_eq!(floors.of(QUEUE, NOW), Some(20));
        floors.entered(QUEUE, 5, 4);
        assert_eq!(floors.of(QUEUE, NOW), Some(5));
    }

    #[test]
    fn a_look_that_began_before_something_was_added_does_not_hide_it() {
        let mut floors = Floors::default();
        floors.entered(QUEUE, 5, 2);
        floors.settled(QUEUE, Some(10), 1);
        assert_eq!(floors.of(QUEUE, NOW), None, "nothing was known before");
        floors.settled(QUEUE, Some(5), 3);
        floors.entered(QUEUE, 2, 5);
        floors.settled(QUEUE, Some(5), 4);
        assert_eq!(floors.of(QUEUE, NOW), Some(2));
    }

    #[test]
    fn what_others_may_have_added_is_looked_for() {
        let mut floors = Floors::default();
        floors.settled(QUEUE, Some(10), 1);
        floors.forget(QUEUE.0);
        assert_eq!(floors.of(QUEUE, NOW), None);
        floors.settled(QUEUE, Some(10), 2);
        floors.forget_all();
        assert_eq!(floors.of(QUEUE, NOW), None);
        floors.settled(QUEUE, Some(10), 3);
        assert_eq!(floors.of(QUEUE, NOW + BELIEVED_FOR), None);
    }
}
