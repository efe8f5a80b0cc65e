//! What follows a commit at once, in the process that made it.

use ff_backend::due::DueKey;
use ff_backend::load::Snapshot;
use ff_backend::transaction::{Committed, Put, Transaction, Version};
use ff_core::command::stream::AttemptRef;
use ff_core::machine::placement::{Placement, due_at, placement};
use ff_core::record::{CounterKey, Execution, Gate, Record, RecordKey};

use crate::engine::Engine;
use crate::lease_cache::VersionedExecution;

impl Engine {
    /// A transaction decided from `snapshot` has landed: remembers leases, and what it left to do.
    pub(crate) fn after_commit(&self, transaction: &Transaction, snapshot: &Snapshot, committed: &Committed) {
        let partition = transaction.partition;
        for put in &transaction.puts {
            if let Record::Execution(execution) = &put.record {
                self.count_end(execution, snapshot);
                self.wake_claims(execution);
                self.remember(execution, version_of(put, transaction), snapshot);
            }
            if due_at(&put.record).is_some_and(|at| at.has_come(committed.now)) {
                self.shared.due_soon.add(partition, DueKey::Record(put.record.key()));
            }
        }
        for end in &transaction.stream_ends {
            // A store tells of an end only if the stream had a frame; somebody may wait for the first one.
            self.shared.streams.wake(&AttemptRef {
                execution_id: end.execution_id,
                attempt_index: end.attempt_index,
            });
        }
        for nudge in &transaction.nudges {
            if nudge
                .only_at_zero
                .as_ref()
                .is_none_or(|counter| counter_is_zero(committed, counter))
            {
                self.shared.due_soon.add(partition, DueKey::Record(nudge.key.clone()));
            }
        }
    }

    fn count_end(&self, execution: &Execution, snapshot: &Snapshot) {
        let before = snapshot.execution(&RecordKey::Execution(execution.id));
        if execution.is_terminal() && !before.is_some_and(Execution::is_terminal) {
            let definition = &execution.definition;
            let lane = (definition.namespace.clone(), definition.lane.clone());
            self.shared.throughput.count(lane, self.host().elapsed());
        }
    }

    /// Somebody here may be waiting for it; the store's hint is for the others.
    fn wake_claims(&self, execution: &Execution) {
        if execution.runnable().is_some() && matches!(placement(execution), Placement::Eligible { .. }) {
            let definition = &execution.definition;
            self.shared.claim_queues.wake(&definition.namespace, &definition.lane);
        }
    }

    fn remember(&self, execution: &Execution, version: Version, snapshot: &Snapshot) {
        let gate = execution
            .definition
            .flow
            .map(|flow| gate_in(snapshot, &RecordKey::Gate(flow)));
        match gate {
            // A member is only worth remembering together with its gate.
            Some(None) => self.shared.leases.forget(execution.id),
            gate => self.shared.leases.keep(VersionedExecution {
                execution: execution.clone(),
                version,
                gate: gate.flatten(),
            }),
        }
    }

    /// Forgets what is remembered of a record that turned out to be out of date.
    pub(crate) fn forget_cached(&self, key: &RecordKey) {
        if let RecordKey::Execution(id) = key {
            self.shared.leases.forget(*id);
        }
    }
}

fn version_of(put: &Put, transaction: &Transaction) -> Version {
    match put.expected {
        Some(version) => version.next(transaction.tag),
        None => Version::first(transaction.tag),
    }
}

fn gate_in(snapshot: &Snapshot, key: &RecordKey) -> Option<(Gate, Version)> {
    Some((snapshot.gate(key)?.clone(), snapshot.version(key)?))
}

/// Whether a landed transaction left a counter at zero, or did not move it.
fn counter_is_zero(committed: &Committed, counter: &CounterKey) -> bool {
    let moved = committed.counters.iter().find(|(key, _)| key == counter);
    moved.is_none_or(|(_, value)| *value == 0)
}
