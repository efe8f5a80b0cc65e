//! Every key, field and member name. A key is the prefix of its partition, which carries the hash tag once, and a name.
//!
//! | key | type | holds |
//! |---|---|---|
//! | `{fp:N}:execution:<uuid>` | hash | an execution: `head`, `body`, blobs, history, counters of its inbound edges |
//! | `{fp:N}:attempt:<uuid>:<index>`, `waitpoint:…`, `signal:…`, `step:<uuid>:<key>` | hash | parts of an execution |
//! | `{fp:N}:flow:<id>`, `gate:<id>`, `edge:<id>` | hash | a flow with its counters, its gate, a dependency |
//! | `{fp:N}:submission_key:…`, `signal_key:…` | hash with a time to live | what an idempotency key stands for |
//! | `{fp:N}:payloads:<uuid>` | hash | what came with signals, and what steps left |
//! | `{fp:N}:due`, `nudged`, `stamps` | sorted sets, hash | what needs attention |
//! | `{fp:N}:queue:<namespace>/<lane>:<signature>` | sorted set | eligible executions, best first |
//! | `{fp:N}:queues` | sorted set, by name | the queues that are not empty |
//! | `{fp:N}:executions` | sorted set | executions by creation |
//! | `{fp:N}:index` | sorted set, by name | entries of lists: `<list> <order> <record>`; parts of executions |
//! | `{fp:N}:depth:<namespace>` | hash | executions by lane and state |
//! | `{fp:N}:feed` | stream | what happened |
//! | `{fp:N}:frames:<uuid>:<index>`, `stream:…`, `expiring:…` | stream, hash, sorted set | output of an attempt |
//! | `{b:M}:account:<account>`, `accounts`, `due`; `{q:K}:…` | hash, sorted sets | an account with its numbers; those that are listed, by namespace; timers |
//! | `{b:M}:holds:<account>`, `places:…`, `refused:…`; `{q:K}:…` | sorted sets | what grants hold, places, grants that were given back too early |
//! | `{b:M}:drawn:<account>:<identity>`; `{q:K}:…` | text with a time to live | until when a draw is known |
//! | `{ff}:setting_values`, `settings`, `expiring`, `revision` | hash, sorted sets, number | small shared state |
//! | `{ff}:partition_counts`, `libraries` | text, sorted set | what the store was created with, libraries by their last use |

use ff_backend::Result;
use ff_backend::codec::key::{escaped, execution, name, record_key, unescaped};
use ff_core::digest::Digest;
use ff_core::id::ExecutionId;
use ff_core::machine::index::Entry;
use ff_core::machine::placement::QueueKey;
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::Partition;
use ff_core::record::{BlobKey, Record, RecordKey};

use crate::error::corrupt;

/// What the keys begin with that belong to no partition.
pub(crate) const SHARED: &str = "{ff}:";
/// Executions by creation.
pub(crate) const EXECUTIONS: &str = "executions";
/// Entries of lists, and parts of executions by name.
pub(crate) const INDEX: &str = "index";
/// Queues that are not empty, by name.
pub(crate) const QUEUES: &str = "queues";
/// Accounts that are listed, by namespace.
pub(crate) const ACCOUNTS: &str = "accounts";
/// Executions of a namespace by lane and state.
pub(crate) const DEPTH: &str = "depth:";
/// What happened.
pub(crate) const FEED: &str = "feed";
/// The hash that counts nudges and lines of the feed.
pub(crate) const STAMPS: &str = "stamps";

/// What every key of a partition begins with.
pub(crate) fn prefix(partition: Partition) -> String {
    format!("{partition}:")
}

/// The partition whose keys begin with `prefix`.
pub(crate) fn partition(prefix: &str) -> Result<Partition> {
    let tag = prefix
        .strip_suffix(':')
        .ok_or_else(|| corrupt(format!("prefix {prefix:?}")))?;
    tag.parse().map_err(corrupt)
}

/// The name of the hash that a blob is kept in, and the field.
pub(crate) fn blob(key: BlobKey) -> (String, String) {
    let payloads = |id: ExecutionId| format!("payloads:{}", id.uuid());
    match key {
        BlobKey::Input(id) => (execution(id), "input".to_owned()),
        BlobKey::Result(id) => (execution(id), "result".to_owned()),
        BlobKey::Signal(id, signal) => (payloads(id), signal.to_string()),
        BlobKey::Step(id, seq) => (payloads(id), format!("step:{seq}")),
    }
}

/// The place of a step in the order of its execution, as names begin that sort as numbers do.
pub(crate) fn step_place(id: ExecutionId, seq: u64) -> String {
    format!("journal:{}:{seq:020}", id.uuid())
}

/// A lane of a namespace: `<namespace>/<lane>`.
pub(crate) fn lane(namespace: &Namespace, lane: &LaneId) -> String {
    let is_plain = !namespace.as_str().contains(['%', '/']);
    match is_plain {
        true => format!("{namespace}/{lane}"),
        false => format!("{}/{lane}", escaped(namespace)),
    }
}

/// A queue: its set, and how it is registered.
pub(crate) struct QueueName {
    /// `queue:<lane>:<group>.<budgets>`.
    pub(crate) set: String,
    /// `<lane> <group> <budgets> <signature>`.
    pub(crate) registration: String,
    /// `<namespace>/<lane>`.
    pub(crate) lane: String,
    /// Digest of capabilities and quota: queues that differ only in their budgets share it.
    pub(crate) group: String,
}

impl QueueName {
    pub(crate) fn of(queue: &QueueKey) -> Self {
        let signature = &queue.signature;
        let lane = lane(&queue.namespace, &queue.lane);
        let quota = signature.quota.map(|id| id.to_string()).unwrap_or_default();
        let group = Digest::of(
            "queue group",
            [signature.capabilities.digest(), quota]
                .into_iter()
                .chain(signature.capabilities.iter().map(str::to_owned)),
        )
        .key();
        let budgets = match signature.budgets.is_empty() {
            true => "0".to_owned(),
            false => Digest::of("queue budgets", signature.budgets.iter().map(ToString::to_string)).key(),
        };
        let document = serde_json::to_string(signature).expect("a signature is a document");
        Self {
            set: format!("queue:{lane}:{group}.{budgets}"),
            registration: format!("{lane} {group} {budgets} {document}"),
            lane,
            group,
        }
    }

    /// The set and the queue that a registration stands for.
    pub(crate) fn registered(registration: &str) -> Result<(String, QueueKey)> {
        let unknown = || corrupt(format!("queue {registration:?}"));
        let mut parts = registration.splitn(4, ' ');
        let mut next = || parts.next().ok_or_else(unknown);
        let (lane, group, budgets, document) = (next()?, next()?, next()?, next()?);
        let (namespace, own) = lane.split_once('/').ok_or_else(unknown)?;
        let queue = QueueKey {
            namespace: unescaped(namespace)?,
            lane: LaneId::parse(own).map_err(corrupt)?,
            signature: serde_json::from_str(document).map_err(corrupt)?,
        };
        Ok((format!("queue:{lane}:{group}.{budgets}"), queue))
    }
}

/// The member of the index for an entry of a record. Neither lists nor the records they hold have white space in their names.
pub(crate) fn member(entry: &Entry, key: &RecordKey) -> String {
    format!("{} {} {}", entry.index, entry.order.as_str(), name(key))
}

/// The member of the index that a part of an execution, or the gate of a flow, is found by besides; steps in the order in which they
/// were recorded. Other records have none.
pub(crate) fn own(record: &Record) -> String {
    match record {
        Record::Step(step) => format!("{}:{}", step_place(step.execution_id, step.seq), step.key),
        Record::Attempt(..) | Record::Waitpoint(_) | Record::Signal(_) | Record::Gate(_) => name(&record.key()),
        _ => String::new(),
    }
}

/// The record that a member of the index stands for.
pub(crate) fn listed(partition: Partition, member: &str) -> Result<RecordKey> {
    let mut words = member.splitn(4, ':');
    let name = match (words.next(), words.next(), words.nth(1)) {
        (Some("journal"), Some(uuid), Some(key)) => format!("step:{uuid}:{key}"),
        _ => member.rsplit(' ').next().unwrap_or_default().to_owned(),
    };
    Ok(record_key(partition, &name)?)
}
