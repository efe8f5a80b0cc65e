//! Listings that are cut, ordered or continued wrong.

use async_trait::async_trait;
use ff_backend::layer::Layer;
use ff_backend::query::{Cursor, Listing, Page, Query, Rows};
use ff_backend::{Backend, Error, Result};
use ff_core::record::Record;

use crate::liar::lies;

lies! {
    ();
    /// Listings end after their first page.
    ListEndsEarly,
    /// Pages are longer than asked for.
    PageTooLong,
    /// The records of a page are backwards.
    PageBackwards,
    /// The marks and heads of a page are backwards.
    SweepsBackwards,
    /// Only the first of many partitions is listed.
    OnePartitionListed,
    /// The last of many partitions is left out.
    LastPartitionLeftOut,
    /// What is listed over partitions comes one partition after the other.
    ListPartitionByPartition,
    /// Any text is taken for a cursor.
    CursorUnchecked,
    /// A cursor counts records instead of naming one.
    ListCursorByOffset,
    /// Nobody is told since when work waits in a lane.
    LanesForgetOldest,
    /// Marks stay where they are, whatever grows.
    MarksStandStill,
    /// The audit leaves records out.
    AuditSkipsRecords,
}

#[async_trait]
impl Layer for Liar {
    fn inner(&self) -> &dyn Backend {
        &*self.honest
    }

    async fn list(&self, mut query: Query) -> Result<Page> {
        match self.lie {
            Lie::PageTooLong => query.limit += 1,
            Lie::OnePartitionListed => keep_partitions(&mut query.of, |_| 1),
            Lie::LastPartitionLeftOut => keep_partitions(&mut query.of, |count| (count - 1).max(1)),
            Lie::ListCursorByOffset if matches!(query.of, Listing::Range(_)) => {
                return self.list_by_offset(query).await;
            }
            _ => {}
        }
        let from_start = Query {
            after: None,
            ..query.clone()
        };
        let mut page = match self.inner().list(query).await {
            Err(Error::InvalidCursor) if self.lie == Lie::CursorUnchecked => self.inner().list(from_start).await?,
            page => page?,
        };
        self.distort(&mut page);
        Ok(page)
    }
}

impl Liar {
    fn distort(&self, page: &mut Page) {
        match (self.lie, &mut page.rows) {
            (Lie::ListEndsEarly, _) => page.next = None,
            (Lie::PageBackwards, Rows::Records(rows)) => rows.reverse(),
            (Lie::SweepsBackwards, Rows::Marks(rows)) => rows.reverse(),
            (Lie::SweepsBackwards, Rows::Heads(rows)) => rows.reverse(),
            (Lie::ListPartitionByPartition, Rows::Records(rows)) => rows.sort_by_key(|(record, _)| match record {
                Record::Execution(execution) => Some(execution.id.partition()),
                _ => None,
            }),
            (Lie::LanesForgetOldest, Rows::Lanes(rows)) => rows.iter_mut().for_each(|lane| lane.oldest_eligible = None),
            (Lie::MarksStandStill, Rows::Marks(rows)) => rows.iter_mut().for_each(|(_, mark)| *mark = 0),
            (Lie::AuditSkipsRecords, Rows::Audit(rows)) => drop(rows.pop()),
            _ => {}
        }
    }

    /// Goes on after as many records as were seen, whichever they are by now.
    async fn list_by_offset(&self, mut query: Query) -> Result<Page> {
        let prefix = query.of.cursor_prefix();
        let count = |cursor: &Cursor| cursor.0.strip_prefix(prefix)?.parse().ok();
        let seen: usize = query.after.as_ref().and_then(count).unwrap_or(0);
        let mut is_over = false;
        if seen > 0 {
            let skipped = Query {
                after: None,
                limit: seen,
                ..query.clone()
            };
            query.after = self.inner().list(skipped).await?.next;
            is_over = query.after.is_none();
        }
        let mut page = self.inner().list(query).await?;
        if let Rows::Records(rows) = &mut page.rows {
            if is_over {
                rows.clear();
                page.next = None;
            }
            let seen = seen + rows.len();
            page.next = page.next.map(|_| Cursor(format!("{prefix}{seen}")));
        }
        Ok(page)
    }
}

fn keep_partitions(of: &mut Listing, how_many_of: impl Fn(usize) -> usize) {
    let partitions = match of {
        Listing::Range(range) => &mut range.partitions,
        Listing::Heads { partitions, .. } | Listing::Marks(partitions) => partitions,
        _ => return,
    };
    if !partitions.is_empty() {
        partitions.truncate(how_many_of(partitions.len()));
    }
}
