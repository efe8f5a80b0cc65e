//! Non-empty queues of partitions with their heads and lengths.

use ff_backend::codec::cursor::{Cut, QueueText};
use ff_backend::query::{QueueHead, Rows};
use ff_core::machine::placement::Score;
use ff_core::partition::Partition;
use rusqlite::{Connection, OptionalExtension};

use super::{Answer, Found};
use crate::key::index;
use crate::queues::{FilledQueue, QueueId, QueuePosition, score};

/// The heads of the queues that the writer knows to be filled after the cursor, one more than a page has. Whatever was
/// taken since is left out.
pub(super) fn queues(connection: &Connection, filled: Vec<FilledQueue>, cut: &Cut) -> Found {
    let (shown, next) = cut.first(filled, |queue| (queue.partition, QueueText(queue.key.clone())));
    let mut page = Vec::new();
    for queue in shown {
        let head = head(connection, queue.partition, queue.queue_id)?;
        page.extend(head.map(|head| QueueHead {
            partition: queue.partition,
            queue: queue.key,
            head,
            length: queue.length,
        }));
    }
    Ok((Rows::Queues(page), next))
}

/// The queue after which to go on.
pub(super) fn after(cut: &Cut) -> Answer<Option<QueuePosition>> {
    let position = cut.after::<(Partition, QueueText)>()?;
    Ok(position.map(|(partition, queue)| (partition, queue.0)))
}

/// The best score of a queue in a partition, if anything waits there.
fn head(connection: &Connection, partition: Partition, queue_id: QueueId) -> rusqlite::Result<Option<Score>> {
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_queue_head.sql"))?;
    let head = statement.query_row((queue_id, index(partition)), |row| score(row, 0));
    head.optional()
}
