//! What happened: the history of each subject, and the feed of each partition.

use std::collections::BTreeMap;
use std::ops::Bound;

use ff_core::limits::HISTORY_LINES_MAX;
use ff_core::partition::Partition;
use ff_core::record::HistoryLine;
use ff_core::time::Timestamp;

use super::store::Store;
use crate::hint::Hint;
use crate::query::{FEED_KEPT_FOR, FeedPosition, FeedStart, FeedTrim};

/// The last lines about one subject, numbered from its first one on.
#[derive(Clone, Default)]
pub(super) struct History {
    pub(super) lines: BTreeMap<u64, HistoryLine>,
}

impl History {
    fn push(&mut self, line: HistoryLine) {
        let number = self.lines.last_key_value().map_or(0, |(last, _)| last + 1);
        self.lines.insert(number, line);
        if self.lines.len() > HISTORY_LINES_MAX {
            self.lines.pop_first();
        }
    }
}

/// The last lines of one partition.
#[derive(Clone, Default)]
pub(super) struct Feed {
    pub(super) lines: BTreeMap<FeedPosition, HistoryLine>,
    /// The last position ever given.
    head: Option<FeedPosition>,
    /// The last position that was trimmed, and when.
    trimmed: Option<(FeedPosition, Timestamp)>,
}

impl Feed {
    fn push(&mut self, line: HistoryLine, now: Timestamp) {
        let position = self.next_position(now);
        self.head = Some(position);
        self.lines.insert(position, line);
    }

    fn next_position(&self, now: Timestamp) -> FeedPosition {
        let millis = now.as_millis();
        match self.head {
            Some(head) if head.major >= millis => FeedPosition {
                major: head.major,
                minor: head.minor + 1,
            },
            _ => FeedPosition {
                major: millis,
                minor: 0,
            },
        }
    }

    /// Drops lines beyond `lines_max`, and those whose time is over.
    fn trim(&mut self, lines_max: usize, now: Timestamp) {
        let is_over = |position: &FeedPosition| (Timestamp::from_millis(position.major) + FEED_KEPT_FOR).has_come(now);
        while self.lines.len() > lines_max || self.lines.first_key_value().is_some_and(|(oldest, _)| is_over(oldest)) {
            self.trimmed = self.lines.pop_first().map(|(position, _)| (position, now));
        }
    }

    /// Whether every line from `start` on is still here; a position must have been given for a line that is not lost.
    pub(super) fn reaches_back_to(&self, start: FeedStart) -> bool {
        if let FeedStart::After(seen) = start {
            return self.lines.contains_key(&seen) || self.trimmed.is_some_and(|(trimmed, _)| trimmed == seen);
        }
        self.trimmed.is_none_or(|(position, dropped_at)| {
            let written_at = Timestamp::from_millis(position.major);
            !FeedTrim { written_at, dropped_at }.is_missed_from(start)
        })
    }

    /// The lines from `start` on, oldest first.
    pub(super) fn lines_from(&self, start: FeedStart) -> impl Iterator<Item = (FeedPosition, &HistoryLine)> {
        let from = match start {
            FeedStart::Oldest | FeedStart::Since(_) => Bound::Unbounded,
            FeedStart::From(at) => Bound::Included(FeedPosition {
                major: at.as_millis(),
                minor: 0,
            }),
            FeedStart::After(position) => Bound::Excluded(position),
        };
        let lines = self.lines.range((from, Bound::Unbounded));
        lines.map(|(position, line)| (*position, line))
    }

    /// The position of the oldest line.
    pub(super) fn oldest(&self) -> Option<FeedPosition> {
        self.lines.first_key_value().map(|(position, _)| *position)
    }
}

impl Store {
    /// Appends lines to the histories of their subjects and to the feed of the partition.
    pub(super) fn tell(&mut self, partition: Partition, lines: impl IntoIterator<Item = HistoryLine>) {
        let now = self.now;
        for line in lines {
            let event = line.event().into_owned();
            self.partition_mut(partition).feed.push(event, now);
            self.histories.entry(line.subject).or_default().push(line);
            self.hints.note(Hint::Feed { partition });
        }
        self.trim_feed(partition);
    }

    /// Drops what the feed of a partition need not keep any more.
    pub(super) fn trim_feed(&mut self, partition: Partition) {
        let (lines_max, now) = (self.feed_lines_max, self.now);
        if let Some(partition) = self.partitions.get_mut(&partition) {
            partition.feed.trim(lines_max, now);
        }
    }
}
