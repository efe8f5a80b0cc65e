//! The feed of a partition, oldest line first. All partitions share one table in the order of commits, which makes a line cost
//! one append; a reader passes over the lines of others, a bounded number of them per call.

use ff_backend::Error;
use ff_backend::query::{Cursor, FeedPosition, Query, Rows};
use ff_core::partition::Partition;
use ff_core::record::HistoryLine;
use rusqlite::{Connection, OptionalExtension};

use super::cursor::page_limit;
use super::{Answer, Found};
use crate::key::index;
use crate::record::from_json;

/// Lines of all partitions a call passes over before it stops early and lets the caller go on.
const PASSED_MAX: u64 = 5_000;

/// The rows the feed has.
struct Extent {
    /// The last row that was trimmed.
    floor: u64,
    /// The last row ever written.
    head: u64,
}

/// A line that a feed reader is shown.
type Line = (FeedPosition, HistoryLine);

pub(super) fn feed(connection: &Connection, partition: Partition, query: &Query) -> Found {
    let extent = extent(connection)?;
    let start = start(connection, partition, query.after.as_ref(), &extent)?;
    let end = extent.head.min(start.saturating_add(PASSED_MAX));
    let limit = page_limit(query);
    let mut rows = lines(connection, partition, (start, end), limit + 1)?;
    if rows.len() > limit {
        rows.truncate(limit);
        let next = rows.last().map(|(position, _)| position.cursor());
        return Ok((Rows::Feed(rows), next));
    }
    let next = if end < extent.head {
        position_at(connection, end)?.map(FeedPosition::cursor)
    } else {
        None
    };
    Ok((Rows::Feed(rows), next))
}

/// The row after which to read, if the feed still holds all there ever was after the cursor.
fn start(connection: &Connection, partition: Partition, after: Option<&Cursor>, extent: &Extent) -> Answer<u64> {
    let Some(cursor) = after else {
        return Ok(extent.floor);
    };
    let position = FeedPosition::of_cursor(cursor).ok_or(Error::InvalidCursor)?;
    let row = position.sequence;
    let forgotten = row < last_trimmed(connection, partition)?;
    // A row with another time was written after a failover or a restored backup lost the one the cursor means.
    let lost = row > extent.head || (row > extent.floor && position_at(connection, row)? != Some(position));
    if forgotten || lost {
        return Err(Error::CursorExpired {
            oldest: oldest(connection, partition, extent)?,
        }
        .into());
    }
    Ok(row.max(extent.floor))
}

/// The last row of the partition that was trimmed; 0 when none ever was.
fn last_trimmed(connection: &Connection, partition: Partition) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_feed_trimmed.sql"))?;
    let row = statement.query_row([index(partition)], |row| row.get(0)).optional()?;
    Ok(row.unwrap_or(0))
}

/// The oldest line of the partition; when none is near, a place before which there is none.
fn oldest(connection: &Connection, partition: Partition, extent: &Extent) -> rusqlite::Result<Option<FeedPosition>> {
    let end = extent.head.min(extent.floor.saturating_add(PASSED_MAX));
    match lines(connection, partition, (extent.floor, end), 1)?.first() {
        Some((position, _)) => Ok(Some(*position)),
        None if end < extent.head => position_at(connection, end),
        None => Ok(None),
    }
}

fn extent(connection: &Connection) -> rusqlite::Result<Extent> {
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_feed_extent.sql"))?;
    statement.query_row([], |row| {
        Ok(Extent {
            floor: row.get(0)?,
            head: row.get(1)?,
        })
    })
}

/// The lines of a partition after one row, up to another.
fn lines(
    connection: &Connection,
    partition: Partition,
    (after, end): (u64, u64),
    limit: usize,
) -> rusqlite::Result<Vec<Line>> {
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_feed.sql"))?;
    let rows = statement.query_map((index(partition), after, end, limit), |row| {
        let position = FeedPosition {
            sequence: row.get(0)?,
            millis: row.get(1)?,
        };
        Ok((position, from_json(row.get_ref(2)?.as_str()?)?))
    })?;
    rows.collect()
}

/// The position of a row, or of the last one before it.
fn position_at(connection: &Connection, row: u64) -> rusqlite::Result<Option<FeedPosition>> {
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_feed_position.sql"))?;
    let mut rows = statement.query_map([row], |row| {
        Ok(FeedPosition {
            sequence: row.get(0)?,
            millis: row.get(1)?,
        })
    })?;
    rows.next().transpose()
}
