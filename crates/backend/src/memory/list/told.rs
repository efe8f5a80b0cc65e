//! What happened: histories and feeds.

use std::ops::Bound;

use ff_core::limits::PAGE_MAX;
use ff_core::partition::Partition;
use ff_core::record::HistorySubject;

use super::super::feed::Feed;
use super::super::flaw::Flaw;
use super::super::store::Store;
use super::{Cut, Found};
use crate::query::{Cursor, FeedPosition, Query, Rows};
use crate::{Error, Result};

impl Store {
    pub(super) fn list_history(&self, subject: &HistorySubject, cut: &Cut) -> Found {
        let start = cut.start::<u64>()?;
        let history = self.histories.get(subject).into_iter();
        let lines = history.flat_map(|history| history.lines.range((start, Bound::Unbounded)));
        let (rows, next) = cut.page(lines.map(|(number, line)| (number, Some(line.clone()))))?;
        Ok((Rows::History(rows), next))
    }

    pub(super) fn list_feed(&self, partition: Partition, query: &Query) -> Found {
        let Some(feed) = self.partitions.get(&partition).map(|partition| &partition.feed) else {
            return feed_start(query.after.as_ref(), &Feed::default()).map(|_| (Rows::Feed(Vec::new()), None));
        };
        let start = feed_start(query.after.as_ref(), feed)?;
        let mut rest = feed
            .lines
            .range((start, Bound::Unbounded))
            .map(|(position, line)| (*position, line.clone()));
        let mut rows: Vec<_> = rest.by_ref().take(query.limit.clamp(1, PAGE_MAX)).collect();
        let more = rest.next().is_some();
        let next = rows.last().filter(|_| more).map(|(position, _)| position.cursor());
        if self.flawed(Flaw::FeedNotOrdered) {
            rows.reverse();
        }
        Ok((Rows::Feed(rows), next))
    }
}

/// Where to start reading a feed, if it still holds all there ever was after the cursor.
fn feed_start(after: Option<&Cursor>, feed: &Feed) -> Result<Bound<FeedPosition>> {
    let Some(cursor) = after else {
        return Ok(Bound::Unbounded);
    };
    let position = FeedPosition::of_cursor(cursor).ok_or(Error::InvalidCursor)?;
    if feed.reaches_back_to(position) {
        return Ok(Bound::Excluded(position));
    }
    let oldest = feed.lines.first_key_value().map(|(position, _)| *position);
    Err(Error::CursorExpired { oldest })
}
