//! What is stored stays readable: every kind of document as each format wrote it, in files that never change again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::{env, fs};

use async_trait::async_trait;
use ff_core::caller::Role;
use ff_core::capability::CapabilitySet;
use ff_core::command::submit::LaneState;
use ff_core::digest::Digest;
use ff_core::id::{BudgetId, QuotaPolicyId};
use ff_core::keyring::{KeyRing, RotateWaitpointSecret, Secret, rotate};
use ff_core::machine::index::{Entry, entries};
use ff_core::name::{Dimension, Identity, Kid, LaneId, Namespace, RequestId, ViewName};
use ff_core::partition::{Partition, PartitionCounts};
use ff_core::record::stored::{self, FORMAT, Stored};
use ff_core::record::{
    AboutLines, AccessKeyRecord, Actor, BlockedIn, Breach, BreachKind, Budget, Drain, Excess, Happening, HistoryLine,
    HistorySubject, Incarnation, Lane, Limits, OnHardLimit, Promise, QuotaPolicy, Record, RequestLog, RequestOutcome,
    SavedView, ShortLine, StopOrder, Withdrawal, Worker,
};
use ff_core::time::{Duration, Timestamp};
use serde_json::Value;

use super::records::{every_record, flow, instance, worker};
use super::store::Store;
use crate::Backend;
use crate::conformance::Harness;
use crate::memory::MemoryBackend;

/// Writes the files that are missing, when set.
const UPDATE: &str = "UPDATE_GOLDEN";

/// How documents are named that say in which lists a record stands, and where.
const LISTS: &str = "lists";

struct Fresh(Arc<MemoryBackend>);

#[async_trait]
impl Harness for Fresh {
    fn backend(&self) -> Arc<dyn Backend> {
        self.0.clone()
    }

    async fn advance(&self, by: Duration) {
        self.0.advance(by);
    }

    fn counts(&self) -> PartitionCounts {
        PartitionCounts::default()
    }
}

/// One document of every kind and in every shape, as it is written now, by name.
async fn documents() -> BTreeMap<String, Value> {
    let start = Timestamp::from_millis(1_700_000_000_000);
    let harness = Fresh(Arc::new(MemoryBackend::new(start, PartitionCounts::default())));
    let store = Store::of(&harness);
    let mut documents = BTreeMap::new();
    let mut add = |kind: &str, text: String| {
        let number = (1..)
            .find(|number| !documents.contains_key(&format!("{kind}-{number}")))
            .unwrap_or(0);
        let document = serde_json::from_str(&text).expect("a document");
        documents.insert(format!("{kind}-{number}"), document);
    };
    for record in every_record(&store).await {
        add(kind(&record), stored::write_record(&record).expect("a record"));
        let entry = |entry: Entry| format!("{} {}", entry.index, entry.order.as_str());
        let listed: Vec<String> = entries(&record).into_iter().map(entry).collect();
        if !listed.is_empty() {
            let listed = serde_json::to_string(&listed).expect("a document");
            add(&format!("{}_{LISTS}", kind(&record)), listed);
        }
    }
    add("budget", text(&budget(&store)));
    add("quota_policy", text(&quota_policy(&store)));
    add("lane", text(&lane()));
    add("worker", text(&registered(&store)));
    add("view", text(&view()));
    add("key_ring", text(&key_ring()));
    add("access_key", text(&access_key()));
    let flow = flow(ff_core::id::FlowId::from_uuid(store.uuid()), start);
    for line in lines(&store) {
        add("history_line", serde_json::to_string(&line).expect("a line"));
        let short = ShortLine::of(&line, Some(&AboutLines::flow(&flow)));
        add("short_line", serde_json::to_string(&short).expect("a line"));
    }
    documents
}

const fn kind(record: &Record) -> &'static str {
    match record {
        Record::Execution(_) => "execution",
        Record::Attempt(..) => "attempt",
        Record::Waitpoint(_) => "waitpoint",
        Record::Signal(_) => "signal",
        Record::SignalKey(_) => "signal_key",
        Record::Step(_) => "step",
        Record::SubmissionKey(_) => "submission_key",
        Record::Flow(_) => "flow",
        Record::Gate(_) => "gate",
        Record::Edge(_) => "edge",
    }
}

/// Reads a document as what its name says, and writes it again.
fn rewritten(name: &str, text: &str) -> Value {
    fn again<T: Stored>(text: &str) -> String {
        let read: T = stored::read(text).expect("it was stored");
        stored::write(&read).expect("it can be stored again")
    }
    let text = match name.rsplit_once('-').map_or(name, |(kind, _)| kind) {
        "execution" => again::<ff_core::record::Execution>(text),
        "attempt" => again::<ff_core::record::Attempt>(text),
        "waitpoint" => again::<ff_core::record::Waitpoint>(text),
        "signal" => again::<ff_core::record::Signal>(text),
        "step" => again::<ff_core::record::Step>(text),
        "signal_key" => again::<ff_core::record::SignalKeyRecord>(text),
        "submission_key" => again::<ff_core::record::SubmissionKeyRecord>(text),
        "flow" => again::<ff_core::record::Flow>(text),
        "edge" => again::<ff_core::record::Edge>(text),
        "budget" => again::<Budget>(text),
        "quota_policy" => again::<QuotaPolicy>(text),
        "lane" => again::<Lane>(text),
        "worker" => again::<Worker>(text),
        "view" => again::<SavedView>(text),
        "key_ring" => again::<KeyRing>(text),
        "access_key" => again::<AccessKeyRecord>(text),
        "gate" => {
            let gate: ff_core::record::Gate = serde_json::from_str(text).expect("it was stored");
            serde_json::to_string(&gate).expect("it can be stored again")
        }
        "history_line" => {
            let line: HistoryLine = serde_json::from_str(text).expect("it was stored");
            serde_json::to_string(&line).expect("it can be stored again")
        }
        "short_line" => {
            let line: ShortLine<'_> = serde_json::from_str(text).expect("it was stored");
            serde_json::to_string(&line).expect("it can be stored again")
        }
        // Written from the record, and compared as it is.
        lists if lists.ends_with(LISTS) => text.to_owned(),
        other => panic!("there is no such kind as {other}"),
    };
    serde_json::from_str(&text).expect("a document")
}

fn golden() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden")
}

#[tokio::test]
async fn what_is_written_is_what_the_files_of_this_format_say() {
    let folder = golden().join(format!("format-{FORMAT}"));
    let documents = documents().await;
    for (name, document) in &documents {
        let file = folder.join(format!("{name}.json"));
        if env::var_os(UPDATE).is_some() && !file.exists() {
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(&file, format!("{document:#}\n")).expect("a file");
        }
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let expected: Value = serde_json::from_str(&text).expect("a document");
        assert_eq!(
            *document, expected,
            "{name} is stored in another form than format {FORMAT} had; docs/decisions/records-evolve.md says what to do"
        );
    }
    let files = fs::read_dir(&folder)
        .expect("a folder")
        .map(|file| file.expect("a file"));
    let written: BTreeSet<String> = files
        .filter_map(|file| Some(file.file_name().to_str()?.strip_suffix(".json")?.to_owned()))
        .collect();
    assert_eq!(written, documents.into_keys().collect());
}

#[test]
fn what_any_format_wrote_is_read_and_written_again_without_loss() {
    let mut files = 0;
    for format in 1..=FORMAT {
        let folder = golden().join(format!("format-{format}"));
        for file in fs::read_dir(folder).expect("every format has its files") {
            let path = file.expect("a file").path();
            let text = fs::read_to_string(&path).expect("text");
            let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
            let stored: Value = serde_json::from_str(&text).expect("a document");
            assert_eq!(unmarked(rewritten(name, &text)), unmarked(stored), "{}", path.display());
            files += 1;
        }
    }
    assert!(files > 30, "{files} files were read");
}

/// A document without its format: what is written again is of the current one.
fn unmarked(mut document: Value) -> Value {
    if let Some(members) = document.as_object_mut() {
        members.remove("format");
    }
    document
}

fn text(record: &impl Stored) -> String {
    stored::write(record).expect("a document")
}

fn blocked_in() -> BlockedIn {
    let mut blocked_in = BlockedIn::default();
    blocked_in.mark(Partition::flow(255), 3);
    blocked_in
}

fn budget(store: &Store<'_>) -> Budget {
    let dimension = Dimension::parse("tokens").expect("a dimension");
    let mut requests = RequestLog::default();
    requests.remember(RequestId::parse("reset").ok().as_ref(), RequestOutcome::BudgetReset);
    Budget {
        id: BudgetId::from_uuid(store.uuid()),
        namespace: Namespace::default_namespace(),
        scope: "team".to_owned(),
        dimensions: [(
            dimension.clone(),
            Limits {
                soft: Some(1),
                hard: Some(2),
            },
        )]
        .into(),
        usage: [(dimension.clone(), 3)].into(),
        reset_interval: Some(Duration::from_hours(24)),
        on_hard_limit: OnHardLimit::CancelActive,
        created_at: Timestamp::from_millis(4),
        definition_digest: Digest::of("anything", ["at all"]),
        next_reset_at: Some(Timestamp::from_millis(5)),
        generation: 6,
        generation_at: Timestamp::from_millis(7),
        soft_breaches: 8,
        hard_breaches: 9,
        last_breach: Some(Breach {
            excess: Excess {
                dimension,
                current: 3,
                limit: 2,
            },
            kind: BreachKind::Hard,
            at: Timestamp::from_millis(10),
        }),
        closed_at: Some(Timestamp::from_millis(17)),
        stop: Some(StopOrder {
            since: Timestamp::from_millis(11),
            generation: 12,
            next_sweep_at: Some(Timestamp::from_millis(13)),
        }),
        withdrawal: Some(Withdrawal {
            generation: 14,
            since: Timestamp::from_millis(15),
        }),
        deleted_at: Some(Timestamp::from_millis(16)),
        blocked_in: blocked_in(),
        requests,
        carried: Default::default(),
    }
}

fn quota_policy(store: &Store<'_>) -> QuotaPolicy {
    QuotaPolicy {
        id: QuotaPolicyId::from_uuid(store.uuid()),
        namespace: Namespace::default_namespace(),
        window: Duration::from_millis(1),
        max_requests_per_window: Some(2),
        max_concurrent: Some(3),
        jitter: Duration::from_millis(4),
        created_at: Timestamp::from_millis(5),
        definition_digest: Digest::of("anything", ["at all"]),
        generation: 6,
        generation_at: Timestamp::from_millis(7),
        deleted_at: Some(Timestamp::from_millis(8)),
        blocked_in: blocked_in(),
        continuing_in: blocked_in(),
        promise: Some(Promise {
            count: 9,
            until: Timestamp::from_millis(10),
        }),
        carried: Default::default(),
    }
}

fn lane() -> Lane {
    Lane {
        namespace: Namespace::default_namespace(),
        lane: LaneId::default_lane(),
        state: LaneState::Draining,
        created_at: Timestamp::from_millis(1),
        updated_at: Timestamp::from_millis(2),
        carried: Default::default(),
    }
}

fn view() -> SavedView {
    SavedView {
        namespace: Namespace::default_namespace(),
        name: ViewName::parse("failed").expect("a name"),
        title: "What failed".to_owned(),
        query: "state=failed".to_owned(),
        shared: true,
        owner: Identity::parse("ann").ok(),
        updated_at: Timestamp::from_millis(1),
        carried: Default::default(),
    }
}

fn access_key() -> AccessKeyRecord {
    AccessKeyRecord {
        name: Identity::parse("ann").expect("a name"),
        digest: Digest::of("anything", ["at all"]),
        role: Role::Operator,
        namespace: Some(Namespace::default_namespace()),
        created_at: Timestamp::from_millis(1),
        expires_at: Some(Timestamp::from_millis(2)),
        carried: Default::default(),
    }
}

fn registered(store: &Store<'_>) -> Worker {
    Worker {
        namespace: Namespace::default_namespace(),
        worker: worker(),
        instance: instance(),
        incarnation: Incarnation(store.uuid()),
        lanes: vec![LaneId::default_lane()],
        capabilities: CapabilitySet::parse(["gpu"]).expect("capabilities"),
        registered_at: Timestamp::from_millis(1),
        seen_at: Timestamp::from_millis(2),
        ttl: Duration::from_millis(3),
        slots: Some(4),
        running: Some(5),
        version: Some("6".to_owned()),
        drain: Some(Drain {
            reason: "enough".to_owned(),
            since: Timestamp::from_millis(7),
        }),
        carried: Default::default(),
    }
}

/// A ring of two keys, one of them in grace.
fn key_ring() -> KeyRing {
    let first = KeyRing::first(Kid::parse("k1").expect("a kid"), Secret::from_random([1; 32]));
    let command = RotateWaitpointSecret {
        new_kid: Kid::parse("k2").expect("a kid"),
        new_secret: Secret::from_random([2; 32]),
        grace: Duration::from_hours(1),
        compromised: false,
    };
    let (ring, _) = rotate(&first, &command, Timestamp::from_millis(3)).expect("a rotation");
    ring
}

/// A line that says all it can, and one that says as little as it can, by everybody who can act.
fn lines(store: &Store<'_>) -> Vec<HistoryLine> {
    let client = Identity::parse("somebody").expect("an identity");
    let actors = [
        Actor::Engine,
        Actor::Worker(instance()),
        Actor::Client(client),
        Actor::Anonymous,
    ];
    let flow_id = ff_core::id::FlowId::from_uuid(store.uuid());
    let whole = |actor| HistoryLine {
        subject: HistorySubject::Execution(store.id()),
        namespace: Namespace::parse("tenant").expect("a namespace"),
        lane: Some(LaneId::default_lane()),
        flow_id: Some(flow_id),
        kind: "agent".to_owned(),
        at: Timestamp::from_millis(1),
        what: Happening::Claimed,
        actor,
        attempt_index: Some(2),
        lease_epoch: Some(3),
        detail: Some("größe".to_owned()),
    };
    let bare = HistoryLine {
        subject: HistorySubject::Flow(flow_id),
        namespace: Namespace::default_namespace(),
        lane: None,
        flow_id: None,
        kind: "conformance".to_owned(),
        at: Timestamp::from_millis(4),
        what: Happening::FlowEnded,
        actor: Actor::Engine,
        attempt_index: None,
        lease_epoch: None,
        detail: None,
    };
    actors.map(whole).into_iter().chain([bare]).collect()
}
