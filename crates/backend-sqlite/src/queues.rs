//! What the writer knows of the queues: their numbers in the database, and how many executions wait in each.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use ff_backend::queues::QueueCounts;
use ff_core::capability::Signature;
use ff_core::machine::placement::{QueueKey, Score};
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::Partition;
use ff_core::time::Timestamp;
use rusqlite::{Connection, Row};

use crate::error::corrupt;
use crate::key::execution_id;

/// The number of a queue in the database.
pub(crate) type QueueId = i64;

/// What the writer knows of the queues.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    ids: BTreeMap<(Namespace, LaneId), BTreeMap<Signature, QueueId>>,
    keys: HashMap<QueueId, QueueKey>,
    /// How many wait in each queue over all partitions; an empty queue is never visited.
    lengths: HashMap<QueueId, u64>,
    pub(crate) counts: QueueCounts,
}

/// Where a queue stands among those of all partitions.
pub(crate) type QueuePosition = (Partition, QueueKey);

/// A queue of a partition that is not empty.
#[derive(Clone, Debug)]
pub(crate) struct FilledQueue {
    pub(crate) partition: Partition,
    pub(crate) queue_id: QueueId,
    pub(crate) key: QueueKey,
    pub(crate) length: u64,
}

impl Queues {
    /// Reads it from the database.
    pub(crate) fn load(connection: &Connection) -> rusqlite::Result<Self> {
        let mut queues = Self::default();
        let mut statement = connection.prepare(include_str!("../sql/list_queues.sql"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let key = QueueKey {
                namespace: parse(row.get_ref(1)?.as_str()?)?,
                lane: parse(row.get_ref(2)?.as_str()?)?,
                signature: serde_json::from_str(row.get_ref(3)?.as_str()?).map_err(corrupt)?,
            };
            queues.know(row.get(0)?, key);
        }
        let mut statement = connection.prepare(include_str!("../sql/count_queued.sql"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (queue_id, partition, count): (QueueId, u16, u64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let key = queues.key(queue_id)?.clone();
            queues.counts.load(Partition::flow(partition), &key, count);
            *queues.lengths.entry(queue_id).or_default() += count;
        }
        Ok(queues)
    }

    fn know(&mut self, queue_id: QueueId, key: QueueKey) {
        let lane = self.ids.entry((key.namespace.clone(), key.lane.clone())).or_default();
        lane.insert(key.signature.clone(), queue_id);
        self.keys.insert(queue_id, key);
    }

    /// Which queue has this number.
    pub(crate) fn key(&self, queue_id: QueueId) -> rusqlite::Result<&QueueKey> {
        self.keys
            .get(&queue_id)
            .ok_or_else(|| corrupt(format!("queue {queue_id} is not known")))
    }

    /// Takes an execution into the queue that stands for `wanted`; its number, and whether it was empty in the partition.
    pub(crate) fn enter(
        &mut self,
        connection: &Connection,
        partition: Partition,
        wanted: &QueueKey,
    ) -> rusqlite::Result<(QueueId, bool)> {
        let key = self.counts.queue_for(partition, wanted);
        let queue_id = self.id_of(connection, &key)?;
        *self.lengths.entry(queue_id).or_default() += 1;
        Ok((queue_id, self.counts.enter(partition, &key)))
    }

    /// Takes an execution out of a queue.
    pub(crate) fn leave(&mut self, partition: Partition, queue_id: QueueId) {
        let Some(key) = self.keys.get(&queue_id) else { return };
        self.counts.leave(partition, key);
        if let Some(length) = self.lengths.get_mut(&queue_id) {
            *length = length.saturating_sub(1);
        }
    }

    /// The non-empty queues of a lane, with their numbers.
    pub(crate) fn of_lane(&self, namespace: &Namespace, lane: &LaneId) -> impl Iterator<Item = (&Signature, QueueId)> {
        let lane = self.ids.get(&(namespace.clone(), lane.clone()));
        let queues = lane
            .into_iter()
            .flatten()
            .map(|(signature, queue_id)| (signature, *queue_id));
        queues.filter(|(_, queue_id)| self.lengths.get(queue_id).is_some_and(|length| *length > 0))
    }

    /// The first non-empty queues of these partitions after one of them, by partition and queue.
    pub(crate) fn filled(
        &self,
        partitions: &[Partition],
        after: Option<&QueuePosition>,
        limit: usize,
    ) -> Vec<FilledQueue> {
        let partitions: BTreeSet<Partition> = partitions.iter().copied().collect();
        let first = after.map_or(Partition::flow(0), |(partition, _)| *partition);
        let queues = partitions.range(first..).flat_map(|partition| {
            let queues = self.counts.of_partition(*partition);
            queues.map(|(key, length)| ((*partition, key), length))
        });
        let rest = queues.filter(|(position, _)| after.is_none_or(|after| position > after));
        let numbered = rest.filter_map(|((partition, key), length)| {
            let queue_id = self.known_id(&key)?;
            Some(FilledQueue {
                partition,
                queue_id,
                key,
                length,
            })
        });
        numbered.take(limit).collect()
    }

    fn known_id(&self, key: &QueueKey) -> Option<QueueId> {
        let lane = self.ids.get(&(key.namespace.clone(), key.lane.clone()))?;
        lane.get(&key.signature).copied()
    }

    fn id_of(&mut self, connection: &Connection, key: &QueueKey) -> rusqlite::Result<QueueId> {
        if let Some(queue_id) = self.known_id(key) {
            return Ok(queue_id);
        }
        let signature = serde_json::to_string(&key.signature).map_err(corrupt)?;
        let mut statement = connection.prepare_cached(include_str!("../sql/insert_queue.sql"))?;
        let queue_id = statement.insert((key.namespace.as_str(), key.lane.as_str(), signature))?;
        self.know(queue_id, key.clone());
        Ok(queue_id)
    }
}

/// A score that stands in four columns: priority, creation, uuid and partition.
pub(crate) fn score(row: &Row<'_>, column: usize) -> rusqlite::Result<Score> {
    Ok(Score {
        priority: Reverse(row.get(column)?),
        created_at: Timestamp::from_millis(row.get(column + 1)?),
        id: execution_id(row.get_ref(column + 2)?.as_str()?, row.get(column + 3)?)?,
    })
}

/// A validated name that was stored as text.
pub(crate) fn parse<T: std::str::FromStr<Err = ff_core::error::Rejection>>(text: &str) -> rusqlite::Result<T> {
    text.parse().map_err(corrupt)
}
