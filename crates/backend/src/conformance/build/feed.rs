//! A reader of feeds, who goes on where it stopped.

use std::collections::BTreeMap;

use ff_core::partition::Partition;
use ff_core::record::HistoryLine;

use super::Store;
use crate::Error;
use crate::query::{FeedLine, FeedPosition, FeedStart, Listing, Page, Query};

/// More pages than any feed of the suite has.
const PAGES_MAX: usize = 20_000;

/// A reader of feeds with where it goes on in each.
#[derive(Clone, Debug)]
pub(crate) struct FeedReader {
    pub(crate) starts: BTreeMap<Partition, FeedStart>,
}

impl FeedReader {
    /// Reads the feeds of `partitions` from their beginning.
    pub(crate) fn of(partitions: impl IntoIterator<Item = Partition>) -> Self {
        let starts = partitions.into_iter().map(|partition| (partition, FeedStart::Oldest));
        Self {
            starts: starts.collect(),
        }
    }

    /// The question for what it has not seen yet.
    pub(crate) fn question(&self, limit: usize) -> Query {
        let asked = self.starts.iter().map(|(partition, start)| (*partition, *start));
        Query {
            of: Listing::Feed(asked.collect()),
            after: None,
            limit,
        }
    }

    /// The next lines; each one comes after those of its partition that were seen before.
    pub(crate) async fn try_page(&mut self, store: &Store<'_>, limit: usize) -> Result<Vec<FeedLine>, Error> {
        let page = store.backend().list(self.question(limit)).await?;
        assert_eq!(page.next, None, "a feed has no cursors");
        let began = FeedStart::Since(page.now);
        let new = self.starts.values_mut().filter(|start| **start == FeedStart::Oldest);
        new.for_each(|start| *start = began);
        let lines = Page::feed(page);
        assert!(lines.len() <= limit, "a page has at most as many rows as asked for");
        for (partition, position, _) in &lines {
            let start = self.starts.get_mut(partition).expect("a feed that was asked for");
            let is_new = !matches!(start, FeedStart::After(last) if *last >= *position);
            assert!(is_new, "{partition}: {position:?} comes after {start:?}");
            *start = FeedStart::After(*position);
        }
        Ok(lines)
    }

    /// The next lines.
    pub(crate) async fn page(&mut self, store: &Store<'_>, limit: usize) -> Vec<FeedLine> {
        self.try_page(store, limit).await.expect("the store answers")
    }

    /// Everything there is after what was seen, in pages of `limit`.
    pub(crate) async fn rest(&mut self, store: &Store<'_>, limit: usize) -> Vec<FeedLine> {
        let mut all = Vec::new();
        for _ in 0..PAGES_MAX {
            let lines = self.page(store, limit).await;
            if lines.is_empty() {
                return all;
            }
            all.extend(lines);
        }
        panic!("the feeds have an end");
    }
}

impl Store<'_> {
    /// The whole feed of a partition.
    pub(crate) async fn feed(&self, partition: Partition, limit: usize) -> Vec<(FeedPosition, HistoryLine)> {
        let lines = FeedReader::of([partition]).rest(self, limit).await;
        lines.into_iter().map(|(_, position, line)| (position, line)).collect()
    }
}
