//! How keys read in the database.

use ff_core::id::{ExecutionId, FlowId};
use ff_core::partition::Partition;
use ff_core::record::{Cause, CounterKey, FlowCounter, GroupCounter, HistorySubject, IdempotencyScope, RecordKey};
use ff_core::state::PublicState;
use uuid::Uuid;

use crate::error::corrupt;

/// The number of a partition, whatever its family.
pub(crate) const fn index(partition: Partition) -> u16 {
    partition.index
}

/// The text of an execution's uuid.
pub(crate) fn uuid_text(id: ExecutionId) -> String {
    id.uuid().to_string()
}

/// The execution a row names.
pub(crate) fn execution_id(uuid: &str, partition: u16) -> rusqlite::Result<ExecutionId> {
    Ok(ExecutionId::new(partition, Uuid::try_parse(uuid).map_err(corrupt)?))
}

/// A record's key as text: its kind and its parts.
pub(crate) fn to_text(key: &RecordKey) -> String {
    match key {
        RecordKey::Execution(id) => format!("execution {id}"),
        RecordKey::Flow(id) => format!("flow {id}"),
        RecordKey::Gate(id) => format!("gate {id}"),
        RecordKey::Edge(id) => format!("edge {id}"),
        RecordKey::Attempt(id, index) => format!("attempt {id} {index}"),
        RecordKey::Waitpoint(id, waitpoint) => format!("waitpoint {id} {waitpoint}"),
        RecordKey::Signal(id, signal) => format!("signal {id} {signal}"),
        RecordKey::SignalKey(id, key) => format!("signal_key {id} {key}"),
        RecordKey::Step(id, key) => format!("step {id} {key}"),
        RecordKey::SubmissionKey(scope, key) => format!("submission_key {} {key}", scope_text(scope)),
    }
}

/// The key a text names. Idempotency records and steps are never nudged or due, so they are not read back.
pub(crate) fn from_text(text: &str) -> rusqlite::Result<RecordKey> {
    let mut parts = text.split(' ');
    let mut next = || {
        parts
            .next()
            .ok_or_else(|| corrupt(format!("key {text:?} is too short")))
    };
    match next()? {
        "execution" => Ok(RecordKey::Execution(next()?.parse().map_err(corrupt)?)),
        "flow" => Ok(RecordKey::Flow(next()?.parse().map_err(corrupt)?)),
        "gate" => Ok(RecordKey::Gate(next()?.parse().map_err(corrupt)?)),
        "edge" => Ok(RecordKey::Edge(next()?.parse().map_err(corrupt)?)),
        "waitpoint" => {
            let execution = next()?.parse().map_err(corrupt)?;
            Ok(RecordKey::Waitpoint(execution, next()?.parse().map_err(corrupt)?))
        }
        _ => Err(corrupt(format!("key {text:?} is of no kind that is due"))),
    }
}

/// Where a submission key is unique.
pub(crate) fn scope_text(scope: &IdempotencyScope) -> String {
    match scope {
        IdempotencyScope::Namespace(namespace) => format!("namespace:{namespace}"),
        IdempotencyScope::Flow(flow_id) => format!("flow:{flow_id}"),
    }
}

/// What blocked an execution.
pub(crate) fn cause_text(cause: Cause) -> String {
    match cause {
        Cause::Budget(id) => format!("budget:{id}"),
        Cause::Quota(id) => format!("quota:{id}"),
    }
}

/// The cause a text names.
pub(crate) fn cause(text: &str) -> rusqlite::Result<Cause> {
    match text.split_once(':') {
        Some(("budget", id)) => Ok(Cause::Budget(id.parse().map_err(corrupt)?)),
        Some(("quota", id)) => Ok(Cause::Quota(id.parse().map_err(corrupt)?)),
        _ => Err(corrupt(format!("cause {text:?}"))),
    }
}

/// The subject of a history as text.
pub(crate) fn subject_text(subject: HistorySubject) -> String {
    match subject {
        HistorySubject::Execution(id) => id.to_string(),
        HistorySubject::Flow(id) => id.to_string(),
    }
}

/// Whose counter it is, and its name.
pub(crate) fn counter(key: CounterKey) -> (String, &'static str) {
    match key {
        CounterKey::Flow(flow_id, counter) => (flow_owner(flow_id), flow_counter(counter)),
        CounterKey::Group(id, counter) => (group_owner(id), group_counter(counter)),
        CounterKey::BufferedSignals(id) => (group_owner(id), "buffered_signals"),
    }
}

/// The owner of a flow's counters.
pub(crate) fn flow_owner(flow_id: FlowId) -> String {
    format!("flow {flow_id}")
}

/// The owner of an execution's counters.
pub(crate) fn group_owner(id: ExecutionId) -> String {
    format!("execution {id}")
}

const fn group_counter(counter: GroupCounter) -> &'static str {
    match counter {
        GroupCounter::Applied => "applied",
        GroupCounter::Unresolved => "unresolved",
        GroupCounter::Satisfied => "satisfied",
        GroupCounter::Failed => "failed",
    }
}

const fn flow_counter(counter: FlowCounter) -> &'static str {
    match counter {
        FlowCounter::Members => "members",
        FlowCounter::Open => "open",
        FlowCounter::State(state) => state_counter(state),
    }
}

/// The state counters have the names of the states; none of them is called `members` or `open`.
const fn state_counter(state: PublicState) -> &'static str {
    state.as_str()
}
