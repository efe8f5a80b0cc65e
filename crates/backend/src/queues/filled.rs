//! Which queues have work, as far as this process knows: fed by replies and hints, repaired by sweeps. A claim visits only
//! queues that are in it. It is for stores that others write to as well; whoever is alone with its queues counts them.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use ff_core::capability::Signature;
use ff_core::partition::Partition;

/// Queues one call looks into at most.
pub const SOURCES_MAX: usize = 64;
/// Queues beyond those that should be enough: some may turn out to have nothing, or nothing as good as believed.
const SOURCES_SPARE: usize = 2;

/// How long this is believed before somebody who finds nothing in it looks at the store.
const BELIEVED_FOR: Duration = Duration::from_secs(10);

/// When something was so: how often the partition had been written to, in which generation of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The generation.
    pub generation: u64,
    /// How often the partition had been written to in it.
    pub changes: u64,
}

impl Moment {
    /// Whether this was after `other`, where that can be told.
    const fn is_after(self, other: Moment) -> bool {
        self.generation == other.generation && self.changes > other.changes
    }
}

/// A queue: its partition, and its name in the store.
type Place = (Partition, String);

/// Queues that have work, by lane.
#[derive(Debug, Default)]
pub struct FilledQueues {
    lanes: HashMap<String, BTreeMap<Place, Queue>>,
    /// When everything was looked at, by the age of the store.
    swept_at: Option<Duration>,
}

#[derive(Debug)]
struct Queue {
    signature: Signature,
    /// The best score it was last seen with.
    head: f64,
    /// How many entries it has that nobody was sent for, as far as this process put them in.
    entries: usize,
    seen: Moment,
}

/// A queue to look into.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Where it is.
    pub partition: Partition,
    /// Its name in the store.
    pub name: String,
    /// The best score that is believed to be in it.
    pub head: f64,
    /// What does not score better must wait: another queue of the partition, which is not looked into, has something.
    pub bound: Option<f64>,
}

impl Source {
    fn of((partition, name): &Place, queue: &Queue) -> Self {
        Self {
            partition: *partition,
            name: name.clone(),
            head: queue.head,
            bound: None,
        }
    }
}

/// Inside a partition the order is exact, whatever queues are looked into: each one is bound by the best of those that are not.
/// One that is as good as theirs is looked into too, or nobody would ever get ahead.
fn keep_partitions_exact(sources: &mut Vec<Source>, others: &[(&Place, &mut Queue)]) {
    let mut first_of: BTreeMap<Partition, f64> = BTreeMap::new();
    for source in sources.iter() {
        first_of.entry(source.partition).or_insert(source.head);
    }
    let mut bounds: BTreeMap<Partition, f64> = BTreeMap::new();
    for (key, queue) in others {
        match first_of.get(&key.0) {
            Some(first) if queue.head <= *first => sources.push(Source::of(key, queue)),
            // The best comes first.
            Some(_) => {
                bounds.entry(key.0).or_insert(queue.head);
            }
            None => {}
        }
    }
    for source in sources {
        source.bound = bounds.get(&source.partition).copied();
    }
}

impl FilledQueues {
    /// A queue was seen with something of this score in it.
    pub fn saw(&mut self, lane: &str, key: Place, signature: &Signature, head: f64, seen: Moment) {
        self.saw_more(lane, key, signature, (head, 0), seen);
    }

    /// This process entered something with this score into a queue.
    pub fn entered(&mut self, lane: &str, key: Place, signature: &Signature, score: f64, seen: Moment) {
        self.saw_more(lane, key, signature, (score, 1), seen);
    }

    fn saw_more(&mut self, lane: &str, key: Place, signature: &Signature, (head, entries): (f64, usize), seen: Moment) {
        if !self.lanes.contains_key(lane) {
            self.lanes.insert(lane.to_owned(), BTreeMap::new());
        }
        let Some(queues) = self.lanes.get_mut(lane) else { return };
        let queue = queues.entry(key).or_insert_with(|| Queue {
            signature: signature.clone(),
            head,
            entries: 0,
            seen,
        });
        queue.head = queue.head.min(head);
        queue.entries += entries;
        if !queue.seen.is_after(seen) {
            queue.seen = seen;
        }
    }

    /// A queue has this best score now, or nothing any more. What was seen later stands.
    ///
    /// Generations say nothing about each other: a partition may have moved to a node that has been running for longer. So one
    /// that is new to the queue only makes it the last to look into; the next look, in the same generation, settles it.
    pub fn settled(&mut self, lane: &str, key: &Place, head: Option<f64>, seen: Moment) {
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

    /// The queues of a lane to look into for so many entries, best first; and the best score that is believed to be in the others.
    ///
    /// A queue that nothing is known of counts for one. What somebody is sent for is not counted for the next one, who looks into
    /// further queues.
    pub fn sources(
        &mut self,
        lane: &str,
        wanted: usize,
        runnable: impl Fn(Partition, &Signature) -> bool,
    ) -> (Vec<Source>, Option<f64>) {
        let queues = self.lanes.get_mut(lane).into_iter().flatten();
        let mut queues: Vec<(&Place, &mut Queue)> = queues
            .filter(|((partition, _), queue)| runnable(*partition, &queue.signature))
            .collect();
        queues.sort_unstable_by(|(_, left), (_, right)| left.head.total_cmp(&right.head));
        let (mut wanted, mut count) = (wanted, 0);
        while wanted > 0 && count < queues.len().min(SOURCES_MAX - SOURCES_SPARE) {
            let entries = &mut queues[count].1.entries;
            let expected = (*entries).min(wanted);
            *entries -= expected;
            wanted -= expected.max(1);
            count += 1;
        }
        let others = queues.split_off((count + SOURCES_SPARE).min(queues.len()));
        let bound = others.first().map(|(_, queue)| queue.head);
        let mut sources: Vec<Source> = queues.iter().map(|(key, queue)| Source::of(key, queue)).collect();
        keep_partitions_exact(&mut sources, &others);
        (sources, bound)
    }

    /// What the queues of a lane in one partition need, of those that are believed to have work.
    pub fn signatures(&self, lane: &str, partition: Partition) -> impl Iterator<Item = &Signature> {
        let of_lane = self.lanes.get(lane).into_iter();
        let from = of_lane.flat_map(move |queues| queues.range((partition, String::new())..));
        from.take_while(move |(place, _)| place.0 == partition)
            .map(|(_, queue)| &queue.signature)
    }

    /// Whether this is old enough to be doubted when it shows nothing.
    pub fn is_doubtful(&self, now: Duration) -> bool {
        self.swept_at.is_none_or(|at| now.saturating_sub(at) >= BELIEVED_FOR)
    }

    /// Everything was looked at.
    pub fn swept(&mut self, now: Duration) {
        self.swept_at = Some(now);
    }

    /// Hints were lost: the next one who finds nothing looks at the store.
    pub fn doubt(&mut self) {
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

    fn with_a_queue(at: Moment) -> (FilledQueues, Place) {
        let (mut filled, key) = (FilledQueues::default(), (Partition::flow(1), "queue".to_owned()));
        filled.saw(LANE, key.clone(), &Signature::default(), 1.0, at);
        (filled, key)
    }

    fn is_empty(filled: &mut FilledQueues) -> bool {
        filled.sources(LANE, 10, |_, _| true).0.is_empty()
    }

    #[test]
    fn what_was_seen_later_stands() {
        let (mut filled, key) = with_a_queue(seen(7, 20));
        filled.settled(LANE, &key, None, seen(7, 19));
        assert!(!is_empty(&mut filled));
        filled.settled(LANE, &key, None, seen(7, 20));
        assert!(is_empty(&mut filled));
    }

    #[test]
    fn a_queue_that_moved_to_a_node_that_runs_for_longer_is_settled_by_the_second_look() {
        let (mut filled, key) = with_a_queue(seen(7, 20));
        let other = (Partition::flow(2), "queue".to_owned());
        filled.saw(LANE, other.clone(), &Signature::default(), 5.0, seen(7, 1));
        filled.settled(LANE, &key, None, seen(3, 1));
        let (sources, _) = filled.sources(LANE, 10, |_, _| true);
        assert_eq!(
            sources.iter().map(|source| source.partition.index).collect::<Vec<_>>(),
            [2, 1]
        );
        filled.settled(LANE, &key, None, seen(3, 1));
        filled.settled(LANE, &other, None, seen(7, 1));
        assert!(is_empty(&mut filled));
    }

    #[test]
    fn as_many_queues_are_looked_into_as_should_have_enough() {
        let (mut filled, at) = (FilledQueues::default(), seen(7, 1));
        for partition in 0..20 {
            for _ in 0..5 {
                let key = (Partition::flow(partition), "queue".to_owned());
                filled.entered(LANE, key, &Signature::default(), f64::from(partition), at);
            }
        }
        let mut looked_into = |wanted| filled.sources(LANE, wanted, |_, _| true).0.len();
        assert_eq!(looked_into(20), 4 + SOURCES_SPARE);
        // The first four count for one each: somebody was sent for what they have.
        assert_eq!(looked_into(14), 6 + SOURCES_SPARE);
        let (sources, bound) = filled.sources(LANE, 1, |_, _| true);
        assert_eq!((sources.len(), bound), (1 + SOURCES_SPARE, Some(3.0)));
        assert_eq!(filled.sources(LANE, 1_000, |_, _| true).1, None);
    }

    #[test]
    fn inside_a_partition_nothing_overtakes_a_queue_that_is_not_looked_into() {
        let (mut filled, at) = (FilledQueues::default(), seen(7, 1));
        for (set, score) in [("a", 1.0), ("b", 2.0), ("c", 3.0), ("d", 4.0), ("e", 5.0)] {
            let key = (Partition::flow(3), set.to_owned());
            filled.entered(LANE, key, &Signature::default(), score, at);
        }
        let (sources, _) = filled.sources(LANE, 1, |_, _| true);
        let bounds: Vec<_> = sources
            .iter()
            .map(|source| (source.name.as_str(), source.bound))
            .collect();
        assert_eq!(bounds, [("a", Some(4.0)), ("b", Some(4.0)), ("c", Some(4.0))]);
        let mut equal = FilledQueues::default();
        for set in ["a", "b", "c", "d"] {
            let key = (Partition::flow(3), set.to_owned());
            equal.entered(LANE, key, &Signature::default(), 1.0, at);
        }
        let (sources, _) = equal.sources(LANE, 1, |_, _| true);
        assert!(sources.len() == 4 && sources.iter().all(|source| source.bound.is_none()));
    }
}
