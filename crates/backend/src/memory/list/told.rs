//! What happened: histories and feeds.

use std::collections::BTreeSet;
use std::ops::Bound;

use ff_core::partition::Partition;
use ff_core::record::{HistoryLine, HistorySubject};

use super::super::feed::Feed;
use super::super::store::Store;
use super::{Cut, Found};
use crate::query::{FeedPosition, FeedStart, Rows};
use crate::{Error, Result};

impl Store {
    pub(super) fn list_history(&self, subject: &HistorySubject, cut: &Cut) -> Found {
        let start = cut.start::<u64>()?;
        let history = self.histories.get(subject).into_iter();
        let lines = history.flat_map(|history| history.lines.range((start, Bound::Unbounded)));
        let (rows, next) = cut.page(lines.map(|(number, line)| (number, Some(line.clone()))))?;
        Ok((Rows::History(rows), next))
    }

    /// The lines of all feeds by position: what waits longest comes first, so that nobody waits for ever.
    pub(super) fn list_feed(&self, asked: &[(Partition, FeedStart)], limit: usize) -> Found {
        let mut feeds = Vec::new();
        for (partition, start) in asked {
            feeds.push((*partition, self.feed_from(*partition, *start)?.peekable()));
        }
        let mut waiting: BTreeSet<(FeedPosition, usize)> = BTreeSet::new();
        for (n, (_, lines)) in feeds.iter_mut().enumerate() {
            waiting.extend(lines.peek().map(|(position, _)| (*position, n)));
        }
        let mut rows = Vec::new();
        while rows.len() < limit
            && let Some((_, n)) = waiting.pop_first()
        {
            let (partition, lines) = &mut feeds[n];
            rows.extend(
                lines
                    .next()
                    .map(|(position, line)| (*partition, position, line.clone())),
            );
            waiting.extend(lines.peek().map(|(position, _)| (*position, n)));
        }
        Ok((Rows::Feed(rows), None))
    }

    /// The feed of a partition from somewhere on, if it still holds all there ever was from there.
    fn feed_from(
        &self,
        partition: Partition,
        start: FeedStart,
    ) -> Result<impl Iterator<Item = (FeedPosition, &HistoryLine)>> {
        let feed = self.partitions.get(&partition).map(|partition| &partition.feed);
        let nothing_seen = !matches!(start, FeedStart::After(_));
        if !feed.map_or(nothing_seen, |feed| feed.reaches_back_to(start)) {
            let oldest = feed.and_then(Feed::oldest);
            return Err(Error::CursorExpired { partition, oldest });
        }
        Ok(feed.into_iter().flat_map(move |feed| feed.lines_from(start)))
    }
}
