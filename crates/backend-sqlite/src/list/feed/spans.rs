//! Which partitions have lines in which stretch of the feed, so that a reader passes over the stretches of others. An index
//! in the database would cost every line a second place to be written to; this is learned once by whoever reads first.

use std::collections::BTreeMap;

use super::Starts;
use crate::database::Database;
use crate::sql::{self, with};

/// Rows of a span.
const ROWS: u64 = 4_096;

/// What is known of the feed: half a kilobyte for each of its spans in a store of 256 partitions.
#[derive(Debug, Default)]
pub(crate) struct Spans(BTreeMap<u64, Span>);

/// A stretch of the feed, as far as it is known. What is written later or trimmed meanwhile makes it no less true.
#[derive(Debug)]
struct Span {
    /// The last row that was looked at.
    through: u64,
    /// The number inside the span, from 1, of each partition's last line in it; 0: it has none.
    last: Vec<u16>,
}

impl Spans {
    /// The first stretch of rows after `next`, up to `head`, that holds a line some reader starts before: after which row it
    /// begins, and with which it ends.
    pub(super) fn next_of(
        &mut self,
        database: &Database<'_>,
        starts: &Starts,
        (mut next, head): (u64, u64),
    ) -> rusqlite::Result<Option<(u64, u64)>> {
        while next < head {
            let number = next / ROWS;
            let end = head.min((number + 1) * ROWS);
            let span = self.0.entry(number).or_insert(Span {
                through: number * ROWS,
                last: Vec::new(),
            });
            span.learn(database, number, end)?;
            if span.holds_any(number, starts) {
                return Ok(Some((next, end)));
            }
            next = end;
        }
        Ok(None)
    }

    /// Forgets the spans that were trimmed.
    pub(super) fn forget_through(&mut self, floor: u64) {
        self.0 = self.0.split_off(&(floor / ROWS));
    }
}

impl Span {
    /// Looks at the rows up to `end` that were not looked at yet.
    fn learn(&mut self, database: &Database<'_>, number: u64, end: u64) -> rusqlite::Result<()> {
        if self.through >= end {
            return Ok(());
        }
        let span = with!(sql::LIST_FEED_SPAN, after: self.through, end: end);
        let rows: Vec<(u64, u16)> = database.all(span, |row| row.try_into())?;
        for (row, partition) in rows {
            let partition = usize::from(partition);
            if self.last.len() <= partition {
                self.last.resize(partition + 1, 0);
            }
            self.last[partition] = u16::try_from(row - number * ROWS).unwrap_or(u16::MAX);
        }
        self.through = end;
        Ok(())
    }

    /// Whether any feed has a line here after its start.
    fn holds_any(&self, number: u64, starts: &Starts) -> bool {
        let last = |partition: u16| self.last.get(usize::from(partition)).copied().unwrap_or(0);
        starts.iter().any(|(partition, start)| {
            let last = last(*partition);
            last > 0 && number * ROWS + u64::from(last) > *start
        })
    }
}
