//! The one place where records are written, so that every index follows.

use ff_core::machine::index::{Entry, Index, native_entries};
use ff_core::machine::placement::{QueueKey, Score, due_at, queue_of};
use ff_core::partition::Partition;
use ff_core::record::{Record, RecordKey};
use ff_core::time::Timestamp;

use super::store::{Store, Stored};
use crate::due::DueKey;
use crate::transaction::Version;

impl Store {
    /// Writes a record. One that replaces another keeps the moment the other would have been gone by itself.
    pub(super) fn write(
        &mut self,
        partition: Partition,
        record: Record,
        version: Version,
        expires_at: Option<Timestamp>,
    ) {
        let key = record.key();
        let before = self.partition_mut(partition).records.remove(&key);
        let queue = queue_of(&record);
        if let Some(before) = &before {
            self.depths.remove(&before.record);
        }
        self.depths.add(&record);
        let replaced = before.as_ref().map(|before| &before.record);
        self.relist(partition, &key, replaced, Some(&record));
        self.move_in_queue(before.as_ref().and_then(|before| before.queue.as_ref()), queue.as_ref());
        self.schedule(partition, DueKey::Record(key.clone()), due_at(&record));
        let expires_at = expires_at.or(before.and_then(|before| before.expires_at));
        if let Some(at) = expires_at {
            self.expiring.insert((at, partition, key.clone()));
        }
        let stored = Stored {
            record,
            version,
            expires_at,
            queue,
        };
        self.partition_mut(partition).records.insert(key, stored);
    }

    /// Removes a record with the nudge it has. The lists that its transaction names are left by that.
    pub(super) fn erase(&mut self, partition: Partition, key: &RecordKey) {
        let Some(stored) = self.partition_mut(partition).records.remove(key) else {
            return;
        };
        self.depths.remove(&stored.record);
        self.relist(partition, key, Some(&stored.record), None);
        self.move_in_queue(stored.queue.as_ref(), None);
        self.schedule(partition, DueKey::Record(key.clone()), None);
        if let Some(agenda) = self.agendas.get_mut(&partition) {
            agenda.forget_nudge(key);
        }
        if let Some(at) = stored.expires_at {
            self.expiring.remove(&(at, partition, key.clone()));
        }
    }

    /// Moves a record in the lists that no transaction names.
    fn relist(&mut self, partition: Partition, key: &RecordKey, before: Option<&Record>, after: Option<&Record>) {
        let [before, after] = [before, after].map(|record| record.map_or_else(Vec::new, native));
        if before == after {
            return;
        }
        before.iter().for_each(|entry| self.lists.leave(entry));
        for entry in after {
            self.lists.enter(entry, partition, key);
        }
    }

    fn move_in_queue(&mut self, before: Option<&(QueueKey, Score)>, after: Option<&(QueueKey, Score)>) {
        if before == after {
            return;
        }
        if let Some((_, score)) = before {
            self.queues.remove(score.id);
        }
        if let Some((queue, score)) = after {
            let opened = self.queues.insert(queue, *score);
            self.hints.eligible(score.id.partition(), queue, opened, self.now);
        }
    }
}

/// The lists of a record that no transaction names, but for the queues.
fn native(record: &Record) -> Vec<Entry> {
    let mut entries = native_entries(record);
    entries.retain(|entry| !matches!(entry.index, Index::Queue(_)));
    entries
}
