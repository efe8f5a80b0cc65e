//! The one place where records are written, so that every index follows.

use ff_core::id::ExecutionId;
use ff_core::machine::placement::{self, Placement};
use ff_core::partition::Partition;
use ff_core::record::{Record, RecordKey};
use ff_core::time::Timestamp;

use super::store::{Entries, Store, Stored};
use crate::due::DueKey;
use crate::transaction::Version;

impl Entries {
    /// Where a record belongs.
    pub(super) fn of(record: &Record) -> Self {
        Self {
            placement: match record {
                Record::Execution(execution) => Some(placement::placement(execution)),
                _ => None,
            },
            due_at: placement::due_at(record),
        }
    }
}

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
        let entries = Entries::of(&record);
        if let Some(before) = &before {
            self.catalog.remove(&before.record);
        }
        self.catalog.insert(partition, &record);
        self.move_placement(
            &key,
            before.as_ref().and_then(|before| before.entries.placement.as_ref()),
            &entries,
        );
        self.schedule(partition, DueKey::Record(key.clone()), entries.due_at);
        let expires_at = expires_at.or(before.and_then(|before| before.expires_at));
        if let Some(at) = expires_at {
            self.expiring.insert((at, partition, key.clone()));
        }
        let stored = Stored {
            record,
            version,
            expires_at,
            entries,
        };
        self.partition_mut(partition).records.insert(key, stored);
    }

    /// Removes a record with every index entry and the nudge it has.
    pub(super) fn erase(&mut self, partition: Partition, key: &RecordKey) {
        let Some(stored) = self.partition_mut(partition).records.remove(key) else {
            return;
        };
        self.catalog.remove(&stored.record);
        self.move_placement(key, stored.entries.placement.as_ref(), &Entries::default());
        self.schedule(partition, DueKey::Record(key.clone()), None);
        if let Some(agenda) = self.agendas.get_mut(&partition) {
            agenda.forget_nudge(key);
        }
        if let Some(at) = stored.expires_at {
            self.expiring.remove(&(at, partition, key.clone()));
        }
    }

    fn move_placement(&mut self, key: &RecordKey, before: Option<&Placement>, after: &Entries) {
        let RecordKey::Execution(id) = *key else { return };
        if before == after.placement.as_ref() {
            return;
        }
        if let Some(before) = before {
            self.leave(id, before);
        }
        if let Some(after) = &after.placement {
            self.enter(id, after);
        }
    }

    fn enter(&mut self, id: ExecutionId, placement: &Placement) {
        match placement {
            Placement::Eligible { queue, score } => {
                let score = self.misplaced(*score);
                let opened = self.queues.insert(queue, score);
                self.hints.eligible(id.partition(), queue, opened, self.now);
            }
            Placement::Blocked { cause, score } => {
                self.partition_mut(id.partition()).blocked.insert(*cause, *score);
            }
            Placement::Leased { budgets } => {
                let leased_under = &mut self.partition_mut(id.partition()).leased_under;
                for budget_id in budgets {
                    leased_under.insert(*budget_id, id);
                }
            }
            Placement::Nowhere => {}
        }
    }

    fn leave(&mut self, id: ExecutionId, placement: &Placement) {
        match placement {
            Placement::Eligible { .. } => self.queues.remove(id),
            Placement::Blocked { cause, score } => self.partition_mut(id.partition()).blocked.remove(cause, score),
            Placement::Leased { budgets } => {
                let leased_under = &mut self.partition_mut(id.partition()).leased_under;
                for budget_id in budgets {
                    leased_under.remove(budget_id, &id);
                }
            }
            Placement::Nowhere => {}
        }
    }
}
