//! Non-empty queues of a partition with their heads and lengths.

use std::cmp::Reverse;

use ff_backend::query::{QueueHead, Rows};
use ff_core::machine::placement::Score;
use ff_core::partition::Partition;
use ff_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};

use super::Found;
use super::cursor::Cut;
use crate::key::{execution_id, index};
use crate::queues::{FilledQueue, QueueId};

/// The heads of the queues that the writer knows to be filled, by their numbers. Whatever was taken since is left out.
pub(super) fn queues(connection: &Connection, partition: Partition, filled: &[FilledQueue], cut: &Cut) -> Found {
    let after = cut.after::<QueueId>()?.unwrap_or(QueueId::MIN);
    let mut page = Vec::new();
    for FilledQueue { queue_id, key, length } in filled.iter().filter(|filled| filled.queue_id > after) {
        if let Some(head) = head(connection, partition, *queue_id)? {
            page.push(QueueHead {
                queue: key.clone(),
                head,
                length: *length,
            });
        }
        if page.len() == cut.limit {
            return Ok((Rows::Queues(page), Some(cut.cursor(queue_id)?)));
        }
    }
    Ok((Rows::Queues(page), None))
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
