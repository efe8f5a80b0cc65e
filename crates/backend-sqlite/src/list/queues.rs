//! Non-empty queues of partitions with their heads and lengths.

use std::cmp::Reverse;

use ff_backend::query::{QueueHead, Rows};
use ff_core::capability::Signature;
use ff_core::machine::placement::{QueueKey, Score};
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::Partition;
use ff_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};

use super::cursor::Cut;
use super::{Answer, Found};
use crate::key::{execution_id, index};
use crate::queues::{FilledQueue, QueueId, QueuePosition};

/// A position as a cursor holds it.
type CursorPosition = (Partition, Namespace, LaneId, Signature);

/// The heads of the queues that the writer knows to be filled after the cursor, one more than a page has. Whatever was
/// taken since is left out.
pub(super) fn queues(connection: &Connection, filled: &[FilledQueue], cut: &Cut) -> Found {
    let (shown, rest) = filled.split_at(filled.len().min(cut.limit));
    let mut page = Vec::new();
    for queue in shown {
        page.extend(
            head(connection, queue.partition, queue.queue_id)?.map(|head| QueueHead {
                partition: queue.partition,
                queue: queue.key.clone(),
                head,
                length: queue.length,
            }),
        );
    }
    let last = shown.last().filter(|_| !rest.is_empty());
    let next = last.map(|queue| cut.cursor(&cursor_position(queue))).transpose()?;
    Ok((Rows::Queues(page), next))
}

/// The queue after which to go on.
pub(super) fn after(cut: &Cut) -> Answer<Option<QueuePosition>> {
    let position = cut.after::<CursorPosition>()?;
    Ok(position.map(|(partition, namespace, lane, signature)| {
        let queue = QueueKey {
            namespace,
            lane,
            signature,
        };
        (partition, queue)
    }))
}

fn cursor_position(queue: &FilledQueue) -> CursorPosition {
    let QueueKey {
        namespace,
        lane,
        signature,
    } = queue.key.clone();
    (queue.partition, namespace, lane, signature)
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
