//! Lists of records, as the engine asks for them.

use std::collections::{BTreeMap, BTreeSet};

use ff_backend::query::{Cursor, Head, HeadsOf, Listing, Page, Range};
use ff_backend::transaction::Version;
use ff_core::fabric::Result;
use ff_core::limits::{COUNTED_MAX, LOOKED_AT_MAX, PAGE_MAX};
use ff_core::machine::index::{Index, Order};
use ff_core::machine::placement::QueueKey;
use ff_core::partition::Partition;
use ff_core::record::{Cause, Record};
use ff_core::time::Timestamp;
use ff_core::view::HowMany;

use crate::engine::Engine;

/// However many partitions there are, so many entries of a list are counted in each.
const COUNTED_EACH_MIN: u64 = 64;

/// What was found for one page.
pub(crate) struct Matching {
    pub(crate) rows: Vec<(Record, Version)>,
    pub(crate) looked_at: usize,
    /// Where to go on; `None`: that was all.
    pub(crate) next: Option<Cursor>,
}

/// What was created between two moments, of lists whose newest come first.
pub(crate) fn created_between(range: Range, from: Option<Timestamp>, before: Option<Timestamp>) -> Range {
    let newest = |millis| Order::newest(Timestamp::from_millis(millis));
    let first = before.map(|before| before.as_millis().saturating_sub(1));
    let too_old = from.and_then(|from| from.as_millis().checked_sub(1));
    Range {
        from: first.map(newest),
        until: too_old.map(newest),
        ..range
    }
}

impl Engine {
    /// Everything in a list.
    pub(crate) fn range(&self, index: Index) -> Range {
        self.ranges(vec![index])
    }

    /// Everything in lists of one kind.
    pub(crate) fn ranges(&self, of: Vec<Index>) -> Range {
        let own = of.iter().map(|index| index.partition(self.shared.config.counts));
        let partitions = own
            .collect::<Option<Vec<_>>>()
            .unwrap_or_else(|| self.flow_partitions());
        Range {
            of,
            partitions,
            from: None,
            until: None,
        }
    }

    /// The lists of a kind that have anything, in each partition, with so many of their entries counted.
    pub(crate) async fn heads(&self, (of, partitions): (HeadsOf, Vec<Partition>), count: u64) -> Result<Vec<Head>> {
        let of = Listing::Heads { of, partitions, count };
        self.store().list_all(of, Page::heads).await
    }

    /// How many entries of a list are counted in each partition when it is to be said how long it is.
    pub(crate) fn counted_each(&self) -> u64 {
        (COUNTED_MAX / self.flow_partitions().len().max(1) as u64).max(COUNTED_EACH_MIN)
    }

    /// How much work each cause holds back.
    pub(crate) async fn lengths_blocked(&self) -> Result<BTreeMap<Cause, HowMany>> {
        let counted = self.counted_each();
        let everywhere = self.flow_partitions();
        let mut lengths: BTreeMap<Cause, HowMany> = BTreeMap::new();
        for head in self.heads((HeadsOf::Blocked, everywhere), counted).await? {
            if let Index::Blocked(cause) = head.index {
                lengths.entry(cause).or_default().add(head.length, counted);
            }
        }
        Ok(lengths)
    }

    /// What holds work back in partitions, and where.
    pub(crate) async fn blocking_causes(&self, partitions: Vec<Partition>) -> Result<Vec<(Partition, Cause)>> {
        let heads = self.heads((HeadsOf::Blocked, partitions), 0).await?.into_iter();
        let cause = |head: Head| match head.index {
            Index::Blocked(cause) => Some((head.partition, cause)),
            _ => None,
        };
        Ok(heads.filter_map(cause).collect())
    }

    /// The queues that are `wanted`, each once, wherever they are.
    pub(crate) async fn queues(&self, wanted: impl Fn(&QueueKey) -> bool) -> Result<Vec<Index>> {
        let everywhere = self.flow_partitions();
        let heads = self.heads((HeadsOf::Queues, everywhere), 0).await?.into_iter();
        let is_wanted = |index: &Index| matches!(index, Index::Queue(queue) if wanted(queue));
        let queues: BTreeSet<Index> = heads.map(|head| head.index).filter(is_wanted).collect();
        Ok(queues.into_iter().collect())
    }

    /// The first records of a range that match, up to a number that are looked at.
    pub(crate) async fn matching(
        &self,
        range: Range,
        after: Option<Cursor>,
        limit: usize,
        matches: impl FnMut(&Record) -> bool + Send,
    ) -> Result<Matching> {
        self.matching_within(LOOKED_AT_MAX, range, after, limit, matches).await
    }

    /// The same, up to this number.
    pub(crate) async fn matching_within(
        &self,
        looked_at_max: usize,
        range: Range,
        after: Option<Cursor>,
        limit: usize,
        mut matches: impl FnMut(&Record) -> bool + Send,
    ) -> Result<Matching> {
        let mut found = Matching {
            rows: Vec::new(),
            looked_at: 0,
            next: after,
        };
        // Most ranges have little that does not match; where it is otherwise, more is fetched at once.
        let mut chunk = limit;
        loop {
            let page = self.store().list(range.clone(), found.next.take(), chunk).await?;
            let next = page.next.clone();
            let mut rows = page.records().into_iter().peekable();
            while let Some((record, version)) = rows.next() {
                found.looked_at += 1;
                let is_full = found.rows.len() + 1 == limit;
                if !matches(&record) {
                    continue;
                }
                if is_full && rows.peek().is_some() {
                    found.next = range.order_of(&record).as_ref().map(Range::cursor);
                    found.rows.push((record, version));
                    return Ok(found);
                }
                found.rows.push((record, version));
            }
            found.next = next;
            if found.next.is_none() || found.rows.len() >= limit || found.looked_at >= looked_at_max {
                return Ok(found);
            }
            chunk = PAGE_MAX;
        }
    }
}
