//! How keys read in the database, where columns hold them one by one.

use ff_backend::codec::{cause, key};
use ff_core::id::ExecutionId;
use ff_core::partition::Partition;
use ff_core::record::{Cause, HistorySubject, IdempotencyScope};

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
    key::execution_id(Partition::flow(partition), uuid).map_err(corrupt)
}

/// Where a submission key is unique.
pub(crate) fn scope_text(scope: &IdempotencyScope) -> String {
    match scope {
        IdempotencyScope::Namespace(namespace) => format!("namespace:{namespace}"),
        IdempotencyScope::Flow(flow_id) => format!("flow:{flow_id}"),
    }
}

/// The cause a column names.
pub(crate) fn parse_cause(text: &str) -> rusqlite::Result<Cause> {
    cause::parse(text).map_err(corrupt)
}

/// The subject of a history as text.
pub(crate) fn subject_text(subject: HistorySubject) -> String {
    match subject {
        HistorySubject::Execution(id) => id.to_string(),
        HistorySubject::Flow(id) => id.to_string(),
    }
}
