//! Records by name: `<kind>:<what tells it apart in its partition>`. Names of one kind sort as their keys do.

use ff_core::id::ExecutionId;
use ff_core::name::Namespace;
use ff_core::partition::Partition;
use ff_core::record::{BlobKey, HistorySubject, IdempotencyScope, RecordKey};
use uuid::Uuid;

use super::{Result, Unreadable};

/// The name of a record.
pub fn name(key: &RecordKey) -> String {
    match key {
        RecordKey::Execution(id) => execution(*id),
        RecordKey::Flow(id) => format!("flow:{id}"),
        RecordKey::Gate(id) => format!("gate:{id}"),
        RecordKey::Edge(id) => format!("edge:{id}"),
        // Padded, so that names sort as numbers do.
        RecordKey::Attempt(id, index) => format!("attempt:{}:{index:010}", id.uuid()),
        RecordKey::Waitpoint(id, waitpoint) => format!("waitpoint:{}:{waitpoint}", id.uuid()),
        RecordKey::Signal(id, signal) => format!("signal:{}:{signal}", id.uuid()),
        RecordKey::SignalKey(id, key) => format!("signal_key:{}:{key}", id.uuid()),
        RecordKey::Step(id, key) => format!("step:{}:{key}", id.uuid()),
        RecordKey::SubmissionKey(IdempotencyScope::Namespace(namespace), key) => {
            format!("submission_key:{}/{key}", escaped(namespace))
        }
        // No namespace has an empty name.
        RecordKey::SubmissionKey(IdempotencyScope::Flow(flow_id), key) => format!("submission_key:/{flow_id}/{key}"),
    }
}

/// The record of a partition that a name stands for.
pub fn record_key(partition: Partition, name: &str) -> Result<RecordKey> {
    let unknown = || Unreadable::new(format_args!("record name {name:?}"));
    let (kind, rest) = name.split_once(':').ok_or_else(unknown)?;
    Ok(match kind {
        "execution" => RecordKey::Execution(execution_id(partition, rest)?),
        "flow" => RecordKey::Flow(part(rest)?),
        "gate" => RecordKey::Gate(part(rest)?),
        "edge" => RecordKey::Edge(part(rest)?),
        "submission_key" => submission_key(rest).ok_or_else(unknown)??,
        _ => {
            let (uuid, own) = rest.split_once(':').ok_or_else(unknown)?;
            let id = execution_id(partition, uuid)?;
            match kind {
                "attempt" => RecordKey::Attempt(id, part(own)?),
                "waitpoint" => RecordKey::Waitpoint(id, part(own)?),
                "signal" => RecordKey::Signal(id, part(own)?),
                "signal_key" => RecordKey::SignalKey(id, part(own)?),
                "step" => RecordKey::Step(id, part(own)?),
                _ => return Err(unknown()),
            }
        }
    })
}

fn submission_key(rest: &str) -> Option<Result<RecordKey>> {
    let (namespace, rest) = rest.split_once('/')?;
    let (scope, key) = match namespace {
        "" => {
            let (flow_id, key) = rest.split_once('/')?;
            (part(flow_id).map(IdempotencyScope::Flow), key)
        }
        namespace => (unescaped(namespace).map(IdempotencyScope::Namespace), rest),
    };
    Some(scope.and_then(|scope| Ok(RecordKey::SubmissionKey(scope, part(key)?))))
}

fn part<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T> {
    text.parse().map_err(Unreadable::new)
}

/// The name of an execution.
pub fn execution(id: ExecutionId) -> String {
    format!("execution:{}", id.uuid())
}

/// The execution of a partition with this uuid.
pub fn execution_id(partition: Partition, uuid: &str) -> Result<ExecutionId> {
    let uuid = Uuid::try_parse(uuid).map_err(Unreadable::new)?;
    Ok(ExecutionId::new(partition.index, uuid))
}

/// What a blob is told apart by from the others of its execution.
pub fn blob(blob: BlobKey) -> String {
    match blob {
        BlobKey::Input(_) => "input".to_owned(),
        BlobKey::Result(_) => "result".to_owned(),
        BlobKey::Signal(_, signal_id) => format!("signal:{signal_id}"),
        BlobKey::Step(_, seq) => format!("step:{seq}"),
    }
}

/// The name of the record a history is kept on.
pub fn subject(subject: HistorySubject) -> String {
    name(&subject_key(subject))
}

/// The key of the record a history is kept on.
pub const fn subject_key(subject: HistorySubject) -> RecordKey {
    match subject {
        HistorySubject::Execution(id) => RecordKey::Execution(id),
        HistorySubject::Flow(id) => RecordKey::Flow(id),
    }
}

/// A namespace without slashes.
pub fn escaped(namespace: &Namespace) -> String {
    namespace.as_str().replace('%', "%25").replace('/', "%2F")
}

/// The namespace that was escaped to `text`.
pub fn unescaped(text: &str) -> Result<Namespace> {
    part(&text.replace("%2F", "/").replace("%25", "%"))
}

#[cfg(test)]
mod tests {
    use ff_core::id::{EdgeId, FlowId, SignalId, WaitpointId};
    use ff_core::name::{IdempotencyKey, StepKey};

    use super::*;

    const ODD: &str = "a/b:c%2Fd%25//:";

    fn every_kind() -> Vec<RecordKey> {
        let (uuid, id) = (Uuid::from_u128(9), ExecutionId::new(3, Uuid::from_u128(7)));
        let key = IdempotencyKey::parse(ODD).unwrap();
        let scopes = [
            IdempotencyScope::Namespace(Namespace::parse(ODD).unwrap()),
            IdempotencyScope::Flow(FlowId::from_uuid(uuid)),
        ];
        let mut keys = vec![
            RecordKey::Execution(id),
            RecordKey::Attempt(id, u32::MAX),
            RecordKey::Waitpoint(id, WaitpointId::from_uuid(uuid)),
            RecordKey::Signal(id, SignalId::from_uuid(uuid)),
            RecordKey::SignalKey(id, key.clone()),
            RecordKey::Step(id, StepKey::parse(ODD).unwrap()),
            RecordKey::Flow(FlowId::from_uuid(uuid)),
            RecordKey::Gate(FlowId::from_uuid(uuid)),
            RecordKey::Edge(EdgeId::from_uuid(uuid)),
        ];
        keys.extend(scopes.map(|scope| RecordKey::SubmissionKey(scope, key.clone())));
        keys
    }

    #[test]
    fn every_record_is_found_again_by_its_name() {
        for key in every_kind() {
            assert_eq!(record_key(Partition::flow(3), &name(&key)), Ok(key));
        }
    }

    #[test]
    fn what_names_no_record_is_refused() {
        for name in [
            "",
            "execution",
            "execution:x",
            "attempt:00000000-0000-0000-0000-000000000007",
            "member:00000000-0000-0000-0000-000000000007:x",
            "submission_key:a",
            "submission_key:/x",
        ] {
            assert!(record_key(Partition::flow(3), name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn blobs_of_an_execution_have_names_of_their_own() {
        let (uuid, id) = (Uuid::from_u128(9), ExecutionId::new(3, Uuid::from_u128(7)));
        let signal = BlobKey::Signal(id, SignalId::from_uuid(uuid));
        let names = [BlobKey::Input(id), BlobKey::Result(id), signal, BlobKey::Step(id, 4)].map(blob);
        assert_eq!(names, ["input", "result", &format!("signal:{uuid}"), "step:4"]);
    }

    #[test]
    fn attempts_sort_by_name_as_by_index() {
        let id = ExecutionId::new(3, Uuid::nil());
        assert!(name(&RecordKey::Attempt(id, 9)) < name(&RecordKey::Attempt(id, 10)));
    }
}
