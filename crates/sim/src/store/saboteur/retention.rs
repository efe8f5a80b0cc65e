//! A retention that does not look again before it deletes.

use std::collections::BTreeMap;

use ff_backend::load::Load;
use ff_backend::transaction::{Delete, Tag, Transaction};
use ff_core::id::ExecutionId;
use ff_core::record::{Record, RecordKey};
use ff_core::time::Timestamp;

use super::Saboteur;

/// When each execution was to be deleted when it first ended.
#[derive(Default)]
pub(super) struct Calendar(BTreeMap<ExecutionId, Timestamp>);

impl Calendar {
    /// Remembers the ends a transaction writes.
    pub(super) fn note(&mut self, transaction: &Transaction) {
        for put in &transaction.puts {
            let Record::Execution(execution) = &put.record else {
                continue;
            };
            if let Some(delete_at) = execution.outcome().and_then(|outcome| outcome.delete_at) {
                self.0.entry(execution.id).or_insert(delete_at);
            }
        }
    }

    fn due(&self, now: Timestamp) -> Vec<ExecutionId> {
        self.0
            .iter()
            .filter(|(_, at)| at.has_come(now))
            .map(|(id, _)| *id)
            .collect()
    }
}

impl Saboteur {
    /// Deletes executions that were replayed since they were put on the calendar.
    pub(super) async fn delete_what_was_replayed(&self) {
        let Ok(now) = self.inner.ping().await else { return };
        let due = self.memory().calendar.due(now);
        for id in due {
            self.memory().calendar.0.remove(&id);
            let key = RecordKey::Execution(id);
            let load = Load::records(id.partition(), [key.clone()]);
            let Ok(loaded) = self.inner.load(vec![load]).await else {
                return;
            };
            let Some((before, version)) = loaded.first().and_then(|snapshot| {
                let reopened = snapshot
                    .execution(&key)
                    .is_some_and(|execution| !execution.is_terminal());
                snapshot.records.get(&key).filter(|_| reopened)
            }) else {
                continue;
            };
            let mut delete = Transaction::new(id.partition(), Tag(self.luck.next() >> 11));
            delete.deletes.push(Delete::of((before, *version)));
            self.inner.commit(vec![delete]).await;
        }
    }
}
