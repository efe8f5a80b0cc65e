//! A reader of events who is not refused misses nothing that happened since it began.

use std::collections::BTreeMap;
use std::ops::Range;

use ff_core::partition::{Partition, PartitionCounts};
use ff_core::record::{Happening, HistoryLine, HistorySubject};

use super::mirror::{Changes, Mirror};
use super::{Holds, hold};

/// What happened in every partition, in order. Claims are left out: the store writes their lines itself.
#[derive(Default)]
pub(crate) struct Feeds(BTreeMap<Partition, Vec<HistoryLine>>);

/// How far a reader has come in every partition.
#[derive(Clone, Debug, Default)]
pub struct Reading(BTreeMap<Partition, ReaderPosition>);

#[derive(Clone, Copy, Debug, Default)]
struct ReaderPosition {
    /// Where the feed ended when the reader began: what is older may have been dropped before.
    began: usize,
    /// Everything before was seen.
    seen: usize,
}

impl Feeds {
    /// Takes over what happened in a transaction.
    pub(crate) fn observe(&mut self, mirror: &mut Mirror, counts: PartitionCounts, changes: &Changes) {
        for line in changes.history.iter().filter(|line| is_followed(line)) {
            let partition = partition_of(line, counts);
            let feed = self.0.entry(partition).or_default();
            feed.push(line.event().into_owned());
            mirror.told.insert(partition, feed.len());
        }
    }

    /// A failover put the store back to `mirror`.
    pub(crate) fn go_back(&mut self, mirror: &Mirror) {
        for (partition, feed) in &mut self.0 {
            feed.truncate(mirror.told.get(partition).copied().unwrap_or(0));
        }
    }

    /// A reader begins now.
    pub(crate) fn begin(&self) -> Reading {
        let place = |feed: &Vec<HistoryLine>| ReaderPosition {
            began: feed.len(),
            seen: 0,
        };
        Reading(
            self.0
                .iter()
                .map(|(partition, feed)| (*partition, place(feed)))
                .collect(),
        )
    }

    /// A reader saw this line next of its partition.
    pub(crate) fn saw(&self, reading: &mut Reading, counts: PartitionCounts, line: &HistoryLine) -> Holds {
        let partition = partition_of(line, counts);
        let place = reading.0.entry(partition).or_default();
        let Some(feed) = self.0.get(&partition).filter(|_| is_followed(line)) else {
            return Ok(());
        };
        let rest = feed.get(place.seen..).unwrap_or_default();
        // One that is not there was lost by a failover, and the reader is told when it goes on.
        let Some(further) = rest.iter().position(|told| told == line) else {
            return Ok(());
        };
        let next = place.seen.max(place.began);
        let at = place.seen + further;
        place.seen = at + 1;
        nothing_is_skipped(partition, feed, next.min(at)..at)
    }

    /// A reader was told that there is no more.
    pub(crate) fn saw_everything(&self, reading: &Reading) -> Holds {
        for (partition, feed) in &self.0 {
            let place = reading.0.get(partition).copied().unwrap_or_default();
            let next = place.seen.max(place.began).min(feed.len());
            nothing_is_skipped(*partition, feed, next..feed.len())?;
        }
        Ok(())
    }
}

fn nothing_is_skipped(partition: Partition, feed: &[HistoryLine], unseen: Range<usize>) -> Holds {
    // Of lines that say the same, nobody can tell which one was seen.
    let was_seen = |line: &HistoryLine| feed[..unseen.start].contains(line) || feed.get(unseen.end) == Some(line);
    let skipped: Vec<_> = feed[unseen.clone()].iter().filter(|line| !was_seen(line)).collect();
    hold(skipped.is_empty(), "a reader who is not refused misses nothing", || {
        format!(
            "{} events of {partition} were skipped: {:?}",
            skipped.len(),
            skipped.first()
        )
    })
}

fn is_followed(line: &HistoryLine) -> bool {
    line.what != Happening::Claimed
}

fn partition_of(line: &HistoryLine, counts: PartitionCounts) -> Partition {
    match line.subject {
        HistorySubject::Execution(id) => id.partition(),
        HistorySubject::Flow(id) => counts.of_flow(id),
    }
}
