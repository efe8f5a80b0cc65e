//! Killed at random moments under load, and accounted for from the writers' own logs.
//!
//! The test starts itself as a child process with eight writers. Each appends the id of a commit to its own log only after the
//! commit was acknowledged. The child is killed with SIGKILL at a random moment; then the store is opened again and every
//! logged commit must be there, whole, and nothing must be there in part.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use ff_backend::Backend;
use ff_backend::load::{Load, Snapshot};
use ff_backend::query::{Listing, Query};
use ff_backend::transaction::{Tag, Transaction};
use ff_backend_sqlite::{Options, SqliteBackend};
use ff_core::command::submit::CreateExecution;
use ff_core::id::ExecutionId;
use ff_core::machine::placement::{due_at, queue_of};
use ff_core::machine::{Context, submit};
use ff_core::name::ExecutionKind;
use ff_core::partition::{Family, PartitionCounts};
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, RecordKey};
use uuid::Uuid;

const KILLS: u64 = 20;
const WRITERS: u64 = 8;
const DIRECTORY: &str = "FF_CRASH_DIRECTORY";
const ROUND: &str = "FF_CRASH_ROUND";

#[test]
fn every_acknowledged_commit_survives_being_killed() {
    if std::env::var_os(DIRECTORY).is_some() {
        return write_until_killed();
    }
    let directory = tempfile::tempdir().unwrap();
    let mut dice = 0x9E37_79B9_7F4A_7C15_u64;
    let mut acknowledged = 0;
    for round in 0..KILLS {
        dice = dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        run_and_kill(directory.path(), round, Duration::from_millis(40 + (dice >> 33) % 250));
        acknowledged = account(directory.path());
    }
    println!("{KILLS} kills, {WRITERS} writers, {acknowledged} acknowledged commits, all of them there");
    assert!(
        acknowledged > KILLS * WRITERS,
        "the writers hardly wrote: {acknowledged}"
    );
}

fn store(directory: &Path) -> Options {
    Options::new(directory.join("store.db"))
}

/// Starts this very test as a child, waits until it writes, and kills it `after` that.
fn run_and_kill(directory: &Path, round: u64, after: Duration) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "crash::every_acknowledged_commit_survives_being_killed",
            "--nocapture",
        ])
        .env(DIRECTORY, directory)
        .env(ROUND, round.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = directory.join(format!("started-{round}"));
    while !started.exists() {
        assert!(
            child.try_wait().unwrap().is_none(),
            "the child ended before it wrote anything"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
    // A crash has no signal to wait for: this sleep only chooses the moment of the kill.
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The child: eight writers that log what was acknowledged to them.
fn write_until_killed() {
    let directory = PathBuf::from(std::env::var_os(DIRECTORY).unwrap());
    let round: u64 = std::env::var(ROUND).unwrap().parse().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let backend = Arc::new(SqliteBackend::open(&store(&directory)).unwrap());
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| tokio::spawn(write(Arc::clone(&backend), directory.clone(), (round, writer))))
            .collect();
        fs::write(directory.join(format!("started-{round}")), "").unwrap();
        for writer in writers {
            writer.await.unwrap();
        }
    });
}

async fn write(backend: Arc<SqliteBackend>, directory: PathBuf, (round, writer): (u64, u64)) {
    let path = directory.join(format!("log-{round}-{writer}"));
    let mut log = OpenOptions::new().create(true).append(true).open(path).unwrap();
    for number in 0.. {
        let (id, transaction) = submission(round, writer, number);
        backend.commit(vec![transaction]).await.remove(0).unwrap();
        writeln!(log, "{id}").unwrap();
    }
}

/// A submission whose id and input tell who made it.
fn submission(round: u64, writer: u64, number: u64) -> (ExecutionId, Transaction) {
    let uuid = Uuid::from_u64_pair((round << 32) | writer, number + 1);
    let id = ExecutionId::new(PartitionCounts::default().of_execution_uuid(uuid).index, uuid);
    let input = Payload::binary(id.to_string().repeat(20));
    let command = CreateExecution::new(ExecutionKind::parse("crash").unwrap(), input);
    let now = ff_core::time::Timestamp::from_millis(1_000 + number);
    let step = submit::create(&command, id, submit::Known::default(), &Context::engine(now)).unwrap();
    let tag = Tag(uuid.as_u64_pair().1 ^ uuid.as_u64_pair().0);
    (
        id,
        Transaction::bind(step.draft, &Snapshot::empty(id.partition(), now), tag),
    )
}

/// Opens the store, finds every logged commit whole and every index entry right. Answers how many were logged.
fn account(directory: &Path) -> u64 {
    let logged = logged(directory);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let backend = SqliteBackend::open(&store(directory)).unwrap();
        for (id, lines) in &logged {
            check_whole(&backend, *id, *lines).await;
        }
        check_indexes(&backend).await;
    });
    logged.len() as u64
}

fn logged(directory: &Path) -> BTreeMap<ExecutionId, u64> {
    let mut ids = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let is_log = path.file_name().unwrap().to_string_lossy().starts_with("log-");
        let text = if is_log {
            fs::read_to_string(path).unwrap()
        } else {
            String::new()
        };
        // A line without its end was being written when the child was killed: it may be cut short.
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            *ids.entry(line.trim_end().parse().unwrap()).or_default() += 1;
        }
    }
    ids
}

/// The record, its input and its history came together.
async fn check_whole(backend: &SqliteBackend, id: ExecutionId, lines: u64) {
    assert_eq!(lines, 1, "{id} was acknowledged once");
    let key = RecordKey::Execution(id);
    let ask = Load::records(id.partition(), [key.clone()]).with_blobs([BlobKey::Input(id)]);
    let snapshot = backend.load(vec![ask]).await.unwrap().remove(0);
    assert!(snapshot.execution(&key).is_some(), "{id} was acknowledged and is gone");
    assert_eq!(
        snapshot.blobs[&BlobKey::Input(id)].bytes,
        id.to_string().repeat(20),
        "{id} has its input"
    );
}

/// What was not acknowledged is there whole or not at all: every record stands in its indexes.
async fn check_indexes(backend: &SqliteBackend) {
    let mut seen = BTreeSet::new();
    for partition in PartitionCounts::default().all(Family::Flow) {
        let mut after = None;
        loop {
            let query = Query {
                of: Listing::Audit(partition),
                after,
                limit: 1_000,
            };
            let page = backend.list(query).await.unwrap();
            after = page.next.clone();
            for row in page.audit() {
                assert_eq!(row.queue, queue_of(&row.record));
                assert_eq!(row.due_at, due_at(&row.record));
                assert_eq!(row.missing, []);
                assert!(seen.insert(row.record.key()));
            }
            if after.is_none() {
                break;
            }
        }
    }
}
