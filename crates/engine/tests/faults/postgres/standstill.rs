//! A process that stands still in the middle of an answer: what it was handed is as good as taken, and nobody else waits.

use std::time::{Duration, Instant};

use ff_core::capability::CapabilitySet;
use ff_core::command::claim::{Claim, LaneOrder, Want};
use ff_core::command::submit::CreateExecution;
use ff_core::fabric::Fabric as _;
use ff_core::id::ExecutionId;
use ff_core::name::{ExecutionKind, LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::payload::Payload;
use ff_core::record::HistorySubject;
use ff_core::view::{Events, EventsFrom, ReadEvents};
use ff_engine::Engine;
use ff_valkey_server::Proxy;
use tokio::task::JoinSet;

use super::{Site, open};
use crate::scene::engine_over;

/// As much as one claim hands out, which is more than the system keeps for who does not read.
const TASKS: usize = 64;
const INPUT_BYTES: usize = 64_000;
const TAGS: usize = 16;
/// The server gives up on who does not read after five seconds; the claim itself after twenty.
const HELD_UP_MAX: Duration = Duration::from_secs(12);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_nobody_reads_holds_nobody_up() {
    let site = Site::start().await;
    let proxy = Proxy::start(site.server.port()).await;
    let url = format!("postgres://ff@127.0.0.1:{}/{}", proxy.port(), site.database);
    let (still, other) = (engine_over(open(url).await), engine_over(open(site.url()).await));
    for _ in 0..TASKS {
        submit(&other, large()).await;
    }

    let _claim = caught_in_its_answer(&site, &proxy, still).await;
    let began = Instant::now();
    let id = submit(&other, small()).await;
    let mut from = ReadEvents {
        from: Some(EventsFrom::Now),
        ..ReadEvents::default()
    };
    while !tells_of(&read(&other, &mut from).await, id) {
        assert!(
            began.elapsed() < HELD_UP_MAX,
            "events are held up by an answer that nobody reads"
        );
    }
    eprintln!("held up for {:?}", began.elapsed());
}

/// A claim that was taken and whose answer nobody reads: it is held back by a lock until the line stands still.
async fn caught_in_its_answer(site: &Site, proxy: &Proxy, still: Engine) -> JoinSet<()> {
    const LOCKS: &str =
        "SELECT count(*) FROM pg_locks WHERE relation = 'payload'::regclass AND mode = 'AccessExclusiveLock'";
    const RESERVES: &str =
        "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%.reserve(%' AND pid <> pg_backend_pid()";
    const UNLOCK: &str = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE mode = 'AccessExclusiveLock' \
        AND relation = 'payload'::regclass";
    let lock = "BEGIN; LOCK TABLE payload; SELECT pg_sleep(60)";
    let mut claiming = JoinSet::new();
    let stop = async {
        until(site, LOCKS).await;
        claiming.spawn(async move { drop(still.claim(claim()).await) });
        until(site, &format!("{RESERVES} AND wait_event_type = 'Lock'")).await;
        proxy.stall();
        site.ask(UNLOCK).await;
        until(site, &format!("{RESERVES} AND wait_event = 'ClientWrite'")).await;
    };
    let (ended, ()) = tokio::join!(site.server.try_ask(&site.database, lock), stop);
    assert!(ended.is_err(), "whoever has the lock is ended");
    claiming
}

/// Waits until something is counted.
async fn until(site: &Site, count: &str) {
    let began = Instant::now();
    while site.ask(count).await == "0" {
        assert!(began.elapsed() < Duration::from_secs(10), "never: {count}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn small() -> CreateExecution {
    CreateExecution::new(ExecutionKind::parse("fault").unwrap(), Payload::default())
}

fn large() -> CreateExecution {
    let tags = (0..TAGS).map(|nth| (format!("tag-{nth}"), "x".repeat(1_000)));
    CreateExecution {
        input: Payload::binary(vec![7; INPUT_BYTES]),
        tags: tags.collect(),
        ..small()
    }
}

async fn submit(engine: &Engine, command: CreateExecution) -> ExecutionId {
    engine.create_execution(command).await.unwrap().execution_id()
}

fn claim() -> Claim {
    Claim {
        namespace: Namespace::default_namespace(),
        worker: WorkerId::parse("still").unwrap(),
        instance: WorkerInstanceId::parse("still-1").unwrap(),
        incarnation: None,
        want: Want {
            lanes: vec![LaneId::default_lane()],
            lane_order: LaneOrder::Strict,
            capabilities: CapabilitySet::default(),
            max: TASKS,
            lease_ttl: None,
        },
        wait: ff_core::time::Duration::ZERO,
    }
}

async fn read(engine: &Engine, from: &mut ReadEvents) -> Events {
    let events = engine.events(from.clone()).await.unwrap();
    *from = ReadEvents {
        cursor: Some(events.next.clone()),
        wait: ff_core::time::Duration::from_millis(100),
        ..ReadEvents::default()
    };
    events
}

fn tells_of(events: &Events, id: ExecutionId) -> bool {
    let about = HistorySubject::Execution(id);
    events.events.iter().any(|event| event.line.subject == about)
}
