//! Which queues have work, as far as this process knows: fed by replies and hints, repaired by sweeps. A claim visits only
//! queues that are in it.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use ff_core::capability::Signature;
use ff_core::partition::Partition;

/// How long a picture is believed before somebody who finds nothing in it looks at the store.
const BELIEVED_FOR: Duration = Duration::from_secs(10);

/// When something was so: how often the partition had been written to, in which generation of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) generation: u64,
    pub(crate) changes: u64,
}

impl Moment {
    /// Whether this was after `other`, where that can be told.
    const fn is_after(self, other: Moment) -> bool {
        self.generation == other.generation && self.changes > other.changes
    }
}

/// Queues by lane.
#[derive(Default)]
pub(crate) struct Picture {
    lanes: HashMap<String, BTreeMap<(Partition, String), Queue>>,
    /// When everything was looked at, by the age of the store.
    swept_at: Option<Duration>,
}

struct Queue {
    signature: Signature,
    /// The best score it was last seen with.
    head: f64,
    seen: Moment,
}

/// A queue to look into.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Source {
    pub(crate) partition: Partition,
    pub(crate) set: String,
    pub(crate) head: f64,
}

impl Picture {
    /// A queue was seen with something of this score in it.
    pub(crate) fn saw(
        &mut self,
        lane: &str,
        (partition, set): (Partition, String),
        signature: &Signature,
        head: f64,
        seen: Moment,
    ) {
        if !self.lanes.contains_key(lane) {
            self.lanes.insert(lane.to_owned(), BTreeMap::new());
        }
        let Some(queues) = self.lanes.get_mut(lane) else { return };
        let queue = queues.entry((partition, set)).or_insert_with(|| Queue {
            signature: signature.clone(),
            head,
            seen,
        });
        queue.head = queue.head.min(head);
        if !queue.seen.is_after(seen) {
            queue.seen = seen;
        }
    }

    /// A queue has this best score now, or nothing any more. What was seen later stands.
    ///
    /// Generations say nothing about each other: a partition may have moved to a node that has been running for longer. So one
    /// that is new to the queue only makes it the last to look into; the next look, in the same generation, settles it.
    pub(crate) fn settled(&mut self, lane: &str, key: &(Partition, String), head: Option<f64>, seen: Moment) {
        let Some(queues) = self.lanes.get_mut(lane) else { return };
        let Some(queue) = queues.get_mut(key).filter(|queue| !queue.seen.is_after(seen)) else {
            return;
        };
        if queue.seen.generation != seen.generation {
            (queue.head, queue.seen) = (head.unwrap_or(f64::MAX), seen);
            return;
        }
        match head {
            Some(head) => (queue.head, queue.seen) = (head, seen),
            None => {
                queues.remove(key);
            }
        }
        if queues.is_empty() {
            self.lanes.remove(lane);
        }
    }

    /// The queues of a lane that may be looked into, best first, at most `limit` of them; and the best score that is believed
    /// to be in the others.
    pub(crate) fn sources(
        &self,
        lane: &str,
        limit: usize,
        runnable: impl Fn(Partition, &Signature) -> bool,
    ) -> (Vec<Source>, Option<f64>) {
        let queues = self.lanes.get(lane).into_iter().flatten();
        let mut sources: Vec<Source> = queues
            .filter(|((partition, _), queue)| runnable(*partition, &queue.signature))
            .map(|((partition, set), queue)| Source {
                partition: *partition,
                set: set.clone(),
                head: queue.head,
            })
            .collect();
        let by_head = |left: &Source, right: &Source| left.head.total_cmp(&right.head);
        let mut bound = None;
        if sources.len() > limit {
            let (_, next, _) = sources.select_nth_unstable_by(limit, by_head);
            bound = Some(next.head);
            sources.truncate(limit);
        }
        sources.sort_unstable_by(by_head);
        (sources, bound)
    }

    /// Whether the picture is old enough to be doubted when it shows nothing.
    pub(crate) fn is_doubtful(&self, now: Duration) -> bool {
        self.swept_at.is_none_or(|at| now.saturating_sub(at) >= BELIEVED_FOR)
    }

    /// Everything was looked at.
    pub(crate) fn swept(&mut self, now: Duration) {
        self.swept_at = Some(now);
    }

    /// Hints were lost: the next one who finds nothing looks at the store.
    pub(crate) fn doubt(&mut self) {
        self.swept_at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LANE: &str = "default/default";

    fn seen(generation: u64, changes: u64) -> Moment {
        Moment { generation, changes }
    }

    fn with_a_queue(at: Moment) -> (Picture, (Partition, String)) {
        let (mut picture, key) = (Picture::default(), (Partition::flow(1), "queue".to_owned()));
        picture.saw(LANE, key.clone(), &Signature::default(), 1.0, at);
        (picture, key)
    }

    fn is_empty(picture: &Picture) -> bool {
        picture.sources(LANE, 10, |_, _| true).0.is_empty()
    }

    #[test]
    fn what_was_seen_later_stands() {
        let (mut picture, key) = with_a_queue(seen(7, 20));
        picture.settled(LANE, &key, None, seen(7, 19));
        assert!(!is_empty(&picture));
        picture.settled(LANE, &key, None, seen(7, 20));
        assert!(is_empty(&picture));
    }

    #[test]
    fn a_queue_that_moved_to_a_node_that_runs_for_longer_is_settled_by_the_second_look() {
        let (mut picture, key) = with_a_queue(seen(7, 20));
        let other = (Partition::flow(2), "queue".to_owned());
        picture.saw(LANE, other.clone(), &Signature::default(), 5.0, seen(7, 1));
        picture.settled(LANE, &key, None, seen(3, 1));
        let (sources, _) = picture.sources(LANE, 10, |_, _| true);
        assert_eq!(
            sources.iter().map(|source| source.partition.index).collect::<Vec<_>>(),
            [2, 1]
        );
        picture.settled(LANE, &key, None, seen(3, 1));
        picture.settled(LANE, &other, None, seen(7, 1));
        assert!(is_empty(&picture));
    }
}
