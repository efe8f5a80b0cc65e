//! Grants that stay open when they were redeemed.

use std::collections::BTreeMap;

use ff_backend::load::Snapshot;
use ff_backend::transaction::Transaction;
use ff_core::id::ExecutionId;
use ff_core::record::{Grant, Phase, Record, RecordKey};

/// The last grant of each execution that was redeemed.
#[derive(Default)]
pub(super) struct Consumed(BTreeMap<ExecutionId, Grant>);

impl Consumed {
    /// Remembers the grants a transaction redeems; `before` are the records it writes.
    pub(super) fn note(&mut self, before: &Snapshot, transaction: &Transaction) {
        for put in &transaction.puts {
            let Record::Execution(after) = &put.record else {
                continue;
            };
            let granted = before
                .execution(&RecordKey::Execution(after.id))
                .and_then(|stored| stored.grant());
            if let Some(grant) = granted.filter(|_| after.lease().is_some()) {
                self.0.insert(after.id, grant.clone());
            }
        }
    }

    /// Shows them as if they were still open.
    pub(super) fn show_again(&self, snapshots: &mut [Snapshot]) {
        for snapshot in snapshots {
            let now = snapshot.now;
            for (record, _) in snapshot.records.values_mut() {
                let Record::Execution(execution) = record else { continue };
                let grant = self
                    .0
                    .get(&execution.id)
                    .filter(|grant| !grant.expires_at.has_come(now));
                if let Phase::Runnable(runnable) = &mut execution.phase
                    && runnable.grant.is_none()
                {
                    runnable.grant = grant.cloned();
                }
            }
        }
    }
}
