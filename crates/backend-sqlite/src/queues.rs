//! What the writer knows of the queues: their numbers in the database, and how many executions wait in each.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ff_backend::queues::QueueCounts;
use ff_core::capability::Signature;
use ff_core::machine::index::Index;
use ff_core::machine::placement::QueueKey;
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::Partition;
use rusqlite::Row;

use crate::column::{from_json, parsed, text, to_json};
use crate::database::Database;
use crate::error::corrupt;
use crate::sql::{self, with};

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

impl Queues {
    /// Reads it from the database.
    pub(crate) fn load(database: &Database<'_>) -> rusqlite::Result<Self> {
        let mut queues = Self::default();
        let known = database.all(with!(sql::LIST_QUEUES), |row| Ok((row.get(0)?, queue_key(row, 1)?)))?;
        for (queue_id, key) in known.into_iter() {
            queues.know(queue_id, key);
        }
        let counted = database.all(with!(sql::COUNT_QUEUED), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
        for (queue_id, partition, count) in counted {
            let unknown = || corrupt(format_args!("queue {queue_id} is not known"));
            let key = queues.keys.get(&queue_id).ok_or_else(unknown)?;
            queues.counts.load(Partition::flow(partition), key, count);
            *queues.lengths.entry(queue_id).or_default() += count;
        }
        Ok(queues)
    }

    fn know(&mut self, queue_id: QueueId, key: QueueKey) {
        let lane = self.ids.entry((key.namespace.clone(), key.lane.clone())).or_default();
        lane.insert(key.signature.clone(), queue_id);
        self.keys.insert(queue_id, key);
    }

    /// Takes an execution into the queue that stands for `wanted`; its number, and whether it was empty in the partition.
    pub(crate) fn enter(
        &mut self,
        database: &Database<'_>,
        partition: Partition,
        wanted: &QueueKey,
    ) -> rusqlite::Result<(QueueId, bool)> {
        let key = self.counts.queue_for(partition, wanted);
        let queue_id = self.id_of(database, &key)?;
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

    /// The first non-empty queues of these partitions after a place, by partition and name, with their numbers and lengths: as many
    /// as are asked for or more, if there are.
    pub(crate) fn named(
        &self,
        partitions: &BTreeSet<Partition>,
        after: Option<&(Partition, String)>,
        enough: usize,
    ) -> BTreeMap<(Partition, String), (QueueKey, QueueId, u64)> {
        let mut named = BTreeMap::new();
        for partition in partitions {
            if named.len() >= enough {
                break;
            }
            // They are sorted by name here, and otherwise where they are kept.
            let queues = self.counts.of_partition(*partition).filter_map(|(key, length)| {
                let place = (*partition, Index::Queue(key.clone()).to_string());
                let is_next = after.is_none_or(|after| place > *after);
                let queue_id = self.known_id(&key).filter(|_| is_next)?;
                Some((place, (key, queue_id, length)))
            });
            named.extend(queues);
        }
        named
    }

    fn known_id(&self, key: &QueueKey) -> Option<QueueId> {
        let lane = self.ids.get(&(key.namespace.clone(), key.lane.clone()))?;
        lane.get(&key.signature).copied()
    }

    fn id_of(&mut self, database: &Database<'_>, key: &QueueKey) -> rusqlite::Result<QueueId> {
        if let Some(queue_id) = self.known_id(key) {
            return Ok(queue_id);
        }
        let queue_id = database.insert(with!(sql::INSERT_QUEUE,
            namespace: key.namespace.as_str(), lane: key.lane.as_str(), signature: to_json(&key.signature)?))?;
        self.know(queue_id, key.clone());
        Ok(queue_id)
    }
}

/// A queue that stands in three columns: namespace, lane and signature.
pub(crate) fn queue_key(row: &Row<'_>, column: usize) -> rusqlite::Result<QueueKey> {
    Ok(QueueKey {
        namespace: parsed(row, column)?,
        lane: parsed(row, column + 1)?,
        signature: from_json(text(row, column + 2)?)?,
    })
}
