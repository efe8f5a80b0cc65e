//! The feeds of partitions, oldest line first. All partitions share one table in the order of commits, which makes a line cost
//! one append; a reader walks along it and passes over the spans that hold nothing new for it.

mod spans;

use std::collections::BTreeMap;

use ff_backend::Error;
use ff_backend::query::{FeedLine, FeedPosition, FeedStart, FeedTrim, Query, Rows};
use ff_core::partition::{Family, Partition};
use ff_core::time::Timestamp;
use rusqlite::Row;

pub(crate) use self::spans::Spans;

use super::Found;
use crate::column::{from_json, moment, text};
use crate::database::Database;
use crate::sql::{self, with};

/// The table as it stands.
struct Feed<'f, 'c> {
    database: &'f Database<'c>,
    spans: &'f mut Spans,
    /// The last row that was trimmed.
    floor: u64,
    /// The last row ever written.
    head: u64,
}

/// After which row each feed that is asked for is read on.
type Starts = BTreeMap<u16, u64>;

/// The lines of the feeds from where a reader wants them, in the order they were written: no feed keeps another waiting.
pub(super) fn feed(
    database: &Database<'_>,
    asked: &[(Partition, FeedStart)],
    query: &Query,
    spans: &mut Spans,
) -> Found {
    if query.after.is_some() {
        return Err(Error::InvalidCursor.into());
    }
    let mut feed = Feed::open(database, spans)?;
    let mut starts = Starts::new();
    for (partition, start) in asked.iter().filter(|(partition, _)| partition.family == Family::Flow) {
        match feed.start(*partition, *start)? {
            Some(row) => _ = starts.insert(partition.index, row),
            None => return Err(feed.expired(*partition)?.into()),
        }
    }
    let rows = feed.lines(&starts, query.page_limit())?;
    Ok((Rows::Feed(rows), None))
}

/// The moment of what a read sees: after every trim it sees, and not after any other. The clock would not do: a trim is visible
/// only some time after the moment it carries.
pub(super) fn read_at(database: &Database<'_>) -> rusqlite::Result<Timestamp> {
    let found = database.find(with!(sql::LIST_FEED_MOMENT), |row| moment(row, 0))?;
    Ok(found.unwrap_or_default())
}

impl<'f, 'c> Feed<'f, 'c> {
    fn open(database: &'f Database<'c>, spans: &'f mut Spans) -> rusqlite::Result<Self> {
        let extent = database.find(with!(sql::LIST_FEED_EXTENT), |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (floor, head) = extent.unwrap_or_default();
        spans.forget_through(floor);
        Ok(Self {
            database,
            spans,
            floor,
            head,
        })
    }

    /// When a row was written: between the floor and the head every one is there.
    fn written_at(&self, row: u64) -> rusqlite::Result<Option<Timestamp>> {
        let asked = with!(sql::LIST_FEED_TIME, row: row);
        self.database.find(asked, |found| moment(found, 0))
    }

    /// The last row written before a moment. Rows are in the order of their times, so few of them tell.
    fn last_before(&self, at: Timestamp) -> rusqlite::Result<u64> {
        let (mut before, mut not_before) = (self.floor, self.head + 1);
        while before + 1 < not_before {
            let row = before + (not_before - before) / 2;
            if self.written_at(row)?.is_some_and(|written_at| written_at < at) {
                before = row;
            } else {
                not_before = row;
            }
        }
        Ok(before)
    }

    /// The row after which to read, if the feed still holds all there ever was from there.
    fn start(&self, partition: Partition, start: FeedStart) -> rusqlite::Result<Option<u64>> {
        let trimmed = || last_trimmed(self.database, partition);
        let position = match start {
            FeedStart::Oldest => return Ok(Some(self.floor)),
            FeedStart::After(position) => position,
            FeedStart::Since(_) | FeedStart::From(_)
                if trimmed()?.is_some_and(|(_, trim)| trim.is_missed_from(start)) =>
            {
                return Ok(None);
            }
            FeedStart::Since(_) => return Ok(Some(self.floor)),
            FeedStart::From(at) => return self.last_before(at).map(Some),
        };
        let row = position.minor;
        let forgotten = row < self.floor && trimmed()?.is_some_and(|(last, _)| row < last);
        // A row with another time was written after a failover or a restored backup lost the one the reader saw.
        let seen_at = Some(Timestamp::from_millis(position.major));
        let lost = row > self.head || (row > self.floor && self.written_at(row)? != seen_at);
        Ok((!forgotten && !lost).then(|| row.max(self.floor)))
    }

    fn expired(&mut self, partition: Partition) -> rusqlite::Result<Error> {
        let from_the_floor = Starts::from([(partition.index, self.floor)]);
        let oldest = self.lines(&from_the_floor, 1)?;
        let oldest = oldest.first().map(|(_, position, _)| *position);
        Ok(Error::CursorExpired { partition, oldest })
    }

    /// The first lines of the feeds after their starts.
    fn lines(&mut self, starts: &Starts, limit: usize) -> rusqlite::Result<Vec<FeedLine>> {
        let mut found = Vec::new();
        let mut passed = starts.values().min().copied().unwrap_or(self.head);
        while found.len() < limit
            && let Some((after, end)) = self.spans.next_of(self.database, starts, (passed, self.head))?
        {
            self.database
                .rows(with!(sql::LIST_FEED, after: after, end: end), |mut rows| {
                    while found.len() < limit
                        && let Some(row) = rows.next()?
                    {
                        found.extend(line_after(row, starts)?);
                    }
                    Ok(())
                })?;
            passed = end;
        }
        Ok(found)
    }
}

/// The line of a row, if it is after the start of its feed.
fn line_after(row: &Row<'_>, starts: &Starts) -> rusqlite::Result<Option<FeedLine>> {
    let (sequence, partition): (u64, u16) = (row.get(0)?, row.get(1)?);
    if starts.get(&partition).is_none_or(|start| sequence <= *start) {
        return Ok(None);
    }
    let position = FeedPosition {
        minor: sequence,
        major: row.get(2)?,
    };
    let line = from_json(text(row, 3)?)?;
    Ok(Some((Partition::flow(partition), position, line)))
}

/// The last row of the partition that was trimmed.
fn last_trimmed(database: &Database<'_>, partition: Partition) -> rusqlite::Result<Option<(u64, FeedTrim)>> {
    database.find(with!(sql::LIST_FEED_TRIMMED, partition: partition.index), |row| {
        let trim = FeedTrim {
            written_at: moment(row, 1)?,
            dropped_at: moment(row, 2)?,
        };
        Ok((row.get(0)?, trim))
    })
}
