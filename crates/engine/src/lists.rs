//! Lists of records, as the engine asks for them.

use std::collections::BTreeSet;

use ff_backend::query::{Cursor, Head, HeadsOf, Listing, Page, Range};
use ff_backend::transaction::Version;
use ff_core::fabric::Result;
use ff_core::limits::{LOOKED_AT_MAX, PAGE_MAX};
use ff_core::machine::index::Index;
use ff_core::machine::placement::QueueKey;
use ff_core::partition::Partition;
use ff_core::record::{Cause, Record};

use crate::engine::Engine;

/// What was found for one page.
pub(crate) struct Matching {
    pub(crate) rows: Vec<(Record, Version)>,
    pub(crate) looked_at: usize,
    /// Where to go on; `None`: that was all.
    pub(crate) next: Option<Cursor>,
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

    /// What holds work back in partitions, and where.
    pub(crate) async fn blocking_causes(&self, partitions: Vec<Partition>) -> Result<Vec<(Partition, Cause)>> {
        let of = Listing::Heads {
            of: HeadsOf::Blocked,
            partitions,
        };
        let heads = self.store().list_all(of, Page::heads).await?.into_iter();
        let cause = |head: Head| match head.index {
            Index::Blocked(cause) => Some((head.partition, cause)),
            _ => None,
        };
        Ok(heads.filter_map(cause).collect())
    }

    /// The queues that are `wanted`, each once, wherever they are.
    pub(crate) async fn queues(&self, wanted: impl Fn(&QueueKey) -> bool) -> Result<Vec<Index>> {
        let of = Listing::Heads {
            of: HeadsOf::Queues,
            partitions: self.flow_partitions(),
        };
        let heads = self.store().list_all(of, Page::heads).await?.into_iter();
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
            if found.next.is_none() || found.rows.len() >= limit || found.looked_at >= LOOKED_AT_MAX {
                return Ok(found);
            }
            chunk = PAGE_MAX;
        }
    }
}
