//! What follows a commit at once, in the process that made it.

use ff_backend::due::DueKey;
use ff_backend::load::Snapshot;
use ff_backend::transaction::{Committed, Transaction, Version};
use ff_core::command::stream::AttemptRef;
use ff_core::machine::placement::{Placement, due_at, placement};
use ff_core::record::{CounterKey, Execution, Gate, Record, RecordKey};

use crate::engine::Engine;
use crate::lease_cache::VersionedExecution;

/// A transaction decided from `snapshot` has landed: remembers leases, and what it left to do.
pub(crate) fn after_commit(engine: &Engine, transaction: &Transaction, snapshot: &Snapshot, committed: &Committed) {
    engine.shared.metrics.committed(transaction);
    engine.shared.minutes.committed(transaction, snapshot, committed.now);
    engine.shared.flows.note(transaction, committed);
    let partition = transaction.partition;
    for put in &transaction.puts {
        if let Record::Execution(execution) = &put.record {
            note_end(engine, execution, snapshot);
            let before = snapshot.execution(&RecordKey::Execution(execution.id));
            engine.shared.stops.note(before, execution);
            wake_claims(engine, execution);
            remember(engine, execution, put.version(transaction.tag), snapshot);
        }
        if due_at(&put.record).is_some_and(|at| at.has_come(committed.now)) {
            engine.shared.due_soon.add(partition, DueKey::Record(put.record.key()));
        }
    }
    for end in &transaction.stream_ends {
        // A store tells of an end only if the stream had a frame; somebody may wait for the first one.
        engine.shared.streams.wake(&AttemptRef {
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
            engine.shared.due_soon.add(partition, DueKey::Record(nudge.key.clone()));
        }
    }
}

/// Counts an end, and tells who waits for it here.
fn note_end(engine: &Engine, execution: &Execution, snapshot: &Snapshot) {
    let before = snapshot.execution(&RecordKey::Execution(execution.id));
    if before.is_none() || execution.is_terminal() {
        engine.shared.names_seen.note(execution);
    }
    if execution.is_terminal() && !before.is_some_and(Execution::is_terminal) {
        let definition = &execution.definition;
        let lane = (definition.namespace.clone(), definition.lane.clone());
        engine.shared.throughput.count(lane, engine.host().elapsed());
        engine.shared.ends.tell(execution);
    }
}

/// Somebody here may be waiting for it; the store's hint is for the others.
fn wake_claims(engine: &Engine, execution: &Execution) {
    if execution.runnable().is_some() && matches!(placement(execution), Placement::Eligible { .. }) {
        let definition = &execution.definition;
        engine.shared.claim_queues.wake(&definition.namespace, &definition.lane);
    }
}

fn remember(engine: &Engine, execution: &Execution, version: Version, snapshot: &Snapshot) {
    let gate = execution
        .definition
        .flow
        .map(|flow| gate_in(snapshot, &RecordKey::Gate(flow)));
    match gate {
        // A member is only worth remembering together with its gate.
        Some(None) => engine.shared.leases.forget(execution.id),
        gate => engine.shared.leases.keep(VersionedExecution {
            execution: execution.clone(),
            version,
            gate: gate.flatten(),
        }),
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
