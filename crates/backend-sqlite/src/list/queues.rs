//! Non-empty queues of a partition with their heads and lengths.

use std::cmp::Reverse;

use ff_backend::query::{QueueHead, Rows};
use ff_core::machine::placement::{QueueKey, Score};
use ff_core::partition::Partition;
use ff_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};

use super::cursor::Cut;
use super::{Found, VISITED_MAX};
use crate::key::{execution_id, index};
use crate::queues::{QueueId, parse};
use crate::record::from_json;

/// Queues are shared by all partitions, so each is counted whole; a page ends after the queue that makes it long.
pub(super) fn queues(connection: &Connection, partition: Partition, cut: &Cut) -> Found {
    let after = cut.after::<QueueId>()?.unwrap_or(QueueId::MIN);
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_filled_queues.sql"))?;
    let mut filled = statement.query([after])?;
    let (mut page, mut last, mut visited) = (Vec::new(), after, 0);
    while let Some(row) = filled.next()? {
        if page.len() == cut.limit || visited >= VISITED_MAX {
            return Ok((Rows::Queues(page), Some(cut.cursor(&last)?)));
        }
        last = row.get(0)?;
        let (everywhere, length) = lengths(connection, partition, last)?;
        visited += everywhere;
        if let Some(head) = head(connection, partition, last)? {
            page.push(QueueHead {
                queue: queue_key(row)?,
                head,
                length,
            });
        }
    }
    Ok((Rows::Queues(page), None))
}

/// How many wait in a queue over all partitions, and how many in this one.
fn lengths(connection: &Connection, partition: Partition, queue_id: QueueId) -> rusqlite::Result<(usize, u64)> {
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_queue_lengths.sql"))?;
    statement.query_row((queue_id, index(partition)), |row| Ok((row.get(0)?, row.get(1)?)))
}

/// The best score of a queue in a partition, if anything waits there.
fn head(connection: &Connection, partition: Partition, queue_id: QueueId) -> rusqlite::Result<Option<Score>> {
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_queue_head.sql"))?;
    let head = statement.query_row((queue_id, index(partition)), |row| {
        Ok(Score {
            priority: Reverse(row.get(0)?),
            created_at: Timestamp::from_millis(row.get(1)?),
            id: execution_id(row.get_ref(2)?.as_str()?, index(partition))?,
        })
    });
    head.optional()
}

fn queue_key(row: &Row<'_>) -> rusqlite::Result<QueueKey> {
    Ok(QueueKey {
        namespace: parse(row.get_ref(1)?.as_str()?)?,
        lane: parse(row.get_ref(2)?.as_str()?)?,
        signature: from_json(row.get_ref(3)?.as_str()?)?,
    })
}
