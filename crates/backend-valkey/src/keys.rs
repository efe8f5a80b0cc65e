//! Every key, field and member name. A key is the prefix of its partition, which carries the hash tag once, and a name.
//!
//! | key | type | holds |
//! |---|---|---|
//! | `{fp:N}:execution:<uuid>` | hash | an execution: hot fields, `body`, blobs, history, counters of its inbound edges |
//! | `{fp:N}:attempt:<uuid>:<index>`, `waitpoint:…`, `signal:…`, `step:<uuid>:<key>` | hash | parts of an execution |
//! | `{fp:N}:flow:<id>`, `gate:<id>`, `edge:<id>` | hash | a flow with its counters, its gate, a dependency |
//! | `{fp:N}:submission_key:…`, `signal_key:…` | hash with a time to live | what an idempotency key stands for |
//! | `{fp:N}:payloads:<uuid>` | hash | what came with signals, and what steps left |
//! | `{fp:N}:due`, `nudged`, `stamps` | sorted sets, hash | what needs attention |
//! | `{fp:N}:queue:<namespace>/<lane>:<signature>` | sorted set | eligible executions, best first |
//! | `{fp:N}:queues` | sorted set, by name | the queues that are not empty |
//! | `{fp:N}:blocked:<cause>`, `causes` | sorted set, set | work that admission refused |
//! | `{fp:N}:executions`, `open`, `state:<state>`, `tag:<tag>`, `flows` | sorted sets by creation | listings |
//! | `{fp:N}:index` | sorted set, by name | what belongs to what |
//! | `{fp:N}:depth` | hash | executions by lane and state |
//! | `{fp:N}:feed` | stream | what happened |
//! | `{fp:N}:frames:<uuid>:<index>`, `stream:…`, `expiring:…` | stream, hash, sorted set | output of an attempt |
//! | `{b:M}:budget:<id>`, `budgets`, `due` | hash, sorted sets | a budget; those that are not deleted, by namespace; timers |
//! | `{b:M}:seen:<id>:<identity>` | text with a time to live | until when a usage report is known |
//! | `{q:K}:quota:<id>`, `quotas`, `due` | hash, sorted sets | a quota policy, and the same as for budgets |
//! | `{q:K}:slots:<id>`, `window:<id>`, `released:<id>` | sorted sets | slots, places, grants that were released too early |
//! | `{ff}:setting_values`, `settings`, `expiring`, `revision` | hash, sorted sets, number | small shared state |
//! | `{ff}:partition_counts`, `libraries` | text, sorted set | what the store was created with, libraries by their last use |

use ff_backend::Result;
use ff_backend::codec::cause;
use ff_backend::codec::key::{escaped, execution, unescaped};
use ff_core::digest::Digest;
use ff_core::id::ExecutionId;
use ff_core::machine::placement::QueueKey;
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::Partition;
use ff_core::record::{BlobKey, Cause};
use ff_core::state::PublicState;

use crate::error::corrupt;

/// What the keys begin with that belong to no partition.
pub(crate) const SHARED: &str = "{ff}:";
/// Executions by creation.
pub(crate) const EXECUTIONS: &str = "executions";
/// Executions that have not ended, by creation.
pub(crate) const OPEN: &str = "open";
/// Flows by creation.
pub(crate) const FLOWS: &str = "flows";
/// What belongs to what, by name.
pub(crate) const INDEX: &str = "index";
/// Queues that are not empty, by name.
pub(crate) const QUEUES: &str = "queues";

/// Records by the moment they need attention.
pub(crate) const DUE: &str = "due";
/// What holds work back.
pub(crate) const CAUSES: &str = "causes";
/// Executions by lane and state.
pub(crate) const DEPTH: &str = "depth";
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

/// The execution of a blob and the field it is kept under.
pub(crate) fn blob(key: BlobKey) -> (ExecutionId, String) {
    match key {
        BlobKey::Input(id) => (id, "input".to_owned()),
        BlobKey::Result(id) => (id, "result".to_owned()),
        BlobKey::Signal(id, signal) => (id, signal.to_string()),
        BlobKey::Step(id, seq) => (id, format!("step:{seq}")),
    }
}

/// The name of the hash a blob is kept in.
pub(crate) fn blob_owner(key: BlobKey) -> String {
    match key {
        BlobKey::Input(id) | BlobKey::Result(id) => execution(id),
        BlobKey::Signal(id, _) | BlobKey::Step(id, _) => format!("payloads:{}", id.uuid()),
    }
}

/// The place of a step in the order of its execution, as names begin that sort as numbers do.
pub(crate) fn step_place(id: ExecutionId, seq: u64) -> String {
    format!("journal:{}:{seq:020}", id.uuid())
}

/// A lane of a namespace: `<namespace>/<lane>`.
pub(crate) fn lane(namespace: &Namespace, lane: &LaneId) -> String {
    format!("{}/{lane}", escaped(namespace))
}

/// The namespace and lane a text names.
pub(crate) fn parse_lane(text: &str) -> Result<(Namespace, LaneId)> {
    let (namespace, lane) = text.split_once('/').ok_or_else(|| corrupt(format!("lane {text:?}")))?;
    Ok((unescaped(namespace)?, LaneId::parse(lane).map_err(corrupt)?))
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
        let (namespace, lane_id) = parse_lane(lane)?;
        let queue = QueueKey {
            namespace,
            lane: lane_id,
            signature: serde_json::from_str(document).map_err(corrupt)?,
        };
        Ok((format!("queue:{lane}:{group}.{budgets}"), queue))
    }

    /// What the registration of a set begins with; `None` when the set is no queue.
    pub(crate) fn registration_of(set: &str) -> Option<String> {
        let (lane, signature) = set.strip_prefix("queue:")?.rsplit_once(':')?;
        let (group, budgets) = signature.split_once('.')?;
        Some(format!("{lane} {group} {budgets} "))
    }
}

/// The set of what a cause blocks.
pub(crate) fn blocked_by(by: Cause) -> String {
    format!("blocked:{}", cause::text(by))
}

/// The set of executions that ended in this way.
pub(crate) fn in_state(state: PublicState) -> String {
    format!("state:{}", state.as_str())
}

/// The set of what carries a tag. Entries are lines and words, so it has no white space.
pub(crate) fn tag(key: &str, value: &str) -> String {
    let text = format!("{key}={value}");
    let mut set = String::from("tag:");
    for c in text.chars() {
        match c {
            '%' => set.push_str("%25"),
            c if c.is_whitespace() || c.is_control() => set.push_str(&format!("%{:X}", u32::from(c))),
            c => set.push(c),
        }
    }
    set
}
