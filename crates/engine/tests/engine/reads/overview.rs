//! overview and series: what they cost, whoever looks, and that what was counted outlives who counted it.

use std::sync::Arc;

use ff_backend::Backend;
use ff_backend::counted::Counted;
use ff_backend::memory::MemoryBackend;
use ff_core::command::submit::CreateExecution;
use ff_core::fabric::Fabric;
use ff_core::name::{ExecutionKind, Namespace};
use ff_core::partition::PartitionCounts;
use ff_core::payload::Payload;
use ff_core::state::PublicState;
use ff_core::time::{Duration, Timestamp};
use ff_core::view::{LaneProblem, Overview, ReadOverview, ReadSeries, Series, SeriesOf};
use ff_engine::{Config, Engine};

use crate::support::{EngineHarness, START};

/// An engine over a store in memory that counts.
struct World {
    harness: EngineHarness,
    counted: Arc<Counted>,
    store: Arc<dyn Backend>,
}

impl World {
    fn new() -> Self {
        let memory = Arc::new(MemoryBackend::new(START, PartitionCounts::default()));
        let counted = Arc::new(Counted::weighing(Arc::clone(&memory) as Arc<dyn Backend>));
        let store = Arc::clone(&counted) as Arc<dyn Backend>;
        let harness = EngineHarness::over(Arc::clone(&store), move |by| memory.advance(by), |_| ());
        Self {
            harness,
            counted,
            store,
        }
    }

    fn engine(&self) -> &Engine {
        &self.harness.engine
    }

    async fn submit(&self) {
        let submission = CreateExecution::new(ExecutionKind::parse("job").unwrap(), Payload::default());
        self.engine().create_execution(submission).await.unwrap();
    }

    /// Lets time pass, and whatever waits for it go on.
    async fn pass(&self, seconds: u64) {
        self.harness.pass(Duration::from_secs(seconds));
        turns().await;
    }
}

async fn turns() {
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
}

fn read(after: Option<Timestamp>) -> ReadOverview {
    ReadOverview {
        namespace: Namespace::default_namespace(),
        after,
        wait: if after.is_some() {
            Duration::from_secs(30)
        } else {
            Duration::ZERO
        },
    }
}

/// Somebody who looks until so many are waiting.
async fn watch(engine: Engine, waiting: u64) {
    let mut seen: Option<Overview> = None;
    while seen
        .as_ref()
        .is_none_or(|seen| seen.states.get(&PublicState::Waiting) != Some(&waiting))
    {
        let after = seen.as_ref().map(|seen| seen.as_of);
        seen = Some(engine.overview(read(after)).await.unwrap());
    }
}

/// Calls while so many look on as ten executions are submitted, one every second.
async fn watched_by(viewers: usize) -> u64 {
    let world = World::new();
    world.submit().await;
    world.pass(10).await;
    let before = world.counted.calls();
    let watching: Vec<_> = (0..viewers)
        .map(|_| tokio::spawn(watch(world.engine().clone(), 11)))
        .collect();
    turns().await;
    for _ in 0..10 {
        world.submit().await;
        world.pass(1).await;
    }
    for _ in 0..10 {
        world.pass(1).await;
    }
    for watching in watching {
        assert!(watching.is_finished(), "everybody has seen the last one");
        watching.await.unwrap();
    }
    world.counted.calls() - before
}

#[tokio::test]
async fn two_hundred_who_look_at_an_overview_cost_what_one_does() {
    let (none, one, many) = (watched_by(0).await, watched_by(1).await, watched_by(200).await);
    println!("{none} calls without anybody who looks, {one} with one, {many} with two hundred");
    assert!(many <= one + 2, "{one} calls for one, {many} for two hundred");
    // Ten seconds of load: at most six readings.
    assert!(one - none <= 6 * 6, "{} calls to look at it", one - none);
}

#[tokio::test]
async fn an_overview_of_a_store_where_nothing_happens_costs_nothing() {
    let world = World::new();
    world.submit().await;
    world.pass(10).await;
    let first = world.engine().overview(read(None)).await.unwrap();
    // What happened lately is no longer lately after a while: that is counted here, not read.
    world.pass(120).await;
    let settled = world.engine().overview(read(None)).await.unwrap();
    assert!(first.per_second.submitted > 0.0 && settled.per_second.submitted == 0.0);
    let before = world.counted.calls();
    let engine = world.engine().clone();
    let waiting = tokio::spawn(async move { engine.overview(read(Some(settled.as_of))).await });
    turns().await;
    for _ in 0..29 {
        world.pass(1).await;
    }
    assert!(!waiting.is_finished());
    for _ in 0..20 {
        world.engine().overview(read(None)).await.unwrap();
    }
    world.pass(2).await;
    assert_eq!(waiting.await.unwrap().unwrap().as_of, settled.as_of);
    assert_eq!(world.counted.calls() - before, 0);
}

#[tokio::test]
async fn a_lane_whose_oldest_becomes_older_for_ten_minutes_is_said_to_grow() {
    let world = World::new();
    let mut problems = Vec::new();
    for _ in 0..14 {
        world.submit().await;
        world.pass(60).await;
        let seen = world.engine().overview(read(None)).await.unwrap();
        problems.push(seen.lanes[0].problems.contains(&LaneProblem::Growing));
    }
    assert_eq!((problems[5], problems[13]), (false, true), "{problems:?}");
}

fn series_of(engine: &Engine) -> impl Future<Output = Series> {
    let engine = engine.clone();
    async move {
        let request = ReadSeries {
            namespace: Namespace::default_namespace(),
            of: vec![SeriesOf::All],
            from: None,
            step: Duration::from_secs(60),
        };
        engine.series(request).await.unwrap()
    }
}

fn submitted(series: &Series) -> u64 {
    series.series[0].submitted.iter().sum()
}

#[tokio::test]
async fn what_one_process_counted_is_seen_by_others_and_written_once_a_minute() {
    let world = World::new();
    world.engine().start();
    for _ in 0..3 {
        world.submit().await;
    }
    turns().await;
    let host = Arc::new(ff_engine::VirtualHost::new(11));
    let config = Config::new(PartitionCounts::default());
    let other = Engine::new(Arc::clone(&world.store), Arc::clone(&host) as _, config.clone());
    assert_eq!(submitted(&series_of(&other).await), 0, "nothing is written at once");
    world.pass(61).await;
    host.advance(std::time::Duration::from_secs(61));
    let seen = series_of(&other).await;
    assert_eq!(submitted(&seen), 3);
    assert_eq!(
        submitted(&series_of(world.engine()).await),
        3,
        "its own is not added again"
    );
    // Somebody saw the lanes in the minute in which something happened.
    assert!(
        seen.series[0].waiting.iter().flatten().any(|waiting| *waiting == 3),
        "{seen:?}"
    );

    world.submit().await;
    world.engine().stop().await;
    host.advance(std::time::Duration::from_secs(61));
    assert_eq!(submitted(&series_of(&other).await), 4, "who stops says what is left");

    let again = Engine::new(
        Arc::clone(&world.store),
        Arc::new(ff_engine::VirtualHost::new(12)) as _,
        config,
    );
    again.start();
    turns().await;
    assert_eq!(submitted(&series_of(&again).await), 4);
    let before = world.counted.calls();
    for _ in 0..50 {
        series_of(&again).await;
    }
    assert_eq!(world.counted.calls() - before, 0, "others are asked once a minute");
}
