//! The pump in the background: what it costs, how soon it acts, how replicas share, how it ends.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration as HostDuration;

use super::support::{World, counts, tokens, under_quota};
use ff_backend::Backend;
use ff_backend::settings::{SettingsOp, SettingsReply};
use ff_core::command::lease::{Complete, ReportUsage};
use ff_core::fabric::Fabric;
use ff_core::machine::lease;
use ff_core::partition::Family;
use ff_core::policy::{Policy, Retention};
use ff_core::record::RecordKey;
use ff_core::state::{PublicState, public_state};
use ff_core::time::Duration;
use ff_core::view::ListProblems;
use ff_core::view::ProblemKind;
use ff_engine::{Config, Duty, Engine, Host, VirtualHost};
use futures::future::BoxFuture;
use tokio::sync::Semaphore;

const SECOND: Duration = Duration::from_secs(1);

async fn pass_slowly(world: &World, seconds: u64) {
    for _ in 0..seconds {
        world.pass(SECOND);
        world.settle().await;
    }
}

#[tokio::test]
async fn an_idle_engine_makes_less_than_one_call_per_second() {
    let world = World::new();
    world.engine.start();
    world.engine.start();
    pass_slowly(&world, 5).await;
    world.store.take_calls();
    pass_slowly(&world, 300).await;
    let calls = world.store.take_calls();
    assert!(calls["due"] <= 30, "{calls:?}");
    assert!(calls["settings"] <= 60, "{calls:?}");
    assert!(calls.values().sum::<u64>() <= 150, "{calls:?}");
    world.engine.stop().await;
}

#[tokio::test]
async fn timers_far_away_cost_nothing() {
    let world = World::new();
    world.engine.start();
    for seconds in 1_000..1_100 {
        let until = world.now() + Duration::from_secs(seconds);
        world.submit(|command| command.delay_until = Some(until)).await;
    }
    world.settle().await;
    world.store.take_calls();
    pass_slowly(&world, 60).await;
    let calls = world.store.take_calls();
    assert!(calls["due"] <= 7, "{calls:?}");
    assert_eq!(calls.get("load"), None);
    world.engine.stop().await;
}

#[tokio::test]
async fn a_timer_is_handled_when_it_comes_without_any_sweep() {
    let world = World::with(Config {
        liveness_interval: HostDuration::from_secs(100_000),
        ..Config::new(counts())
    });
    world.engine.start();
    world.settle().await;
    let (soon, late) = (world.now() + SECOND, world.now() + Duration::from_secs(3));
    let late = world.submit(|command| command.delay_until = Some(late)).await;
    let soon = world.submit(|command| command.delay_until = Some(soon)).await;
    world.settle().await;
    world.pass(Duration::from_millis(999));
    world.settle().await;
    assert_eq!(world.state(soon).await, PublicState::Delayed);
    world.pass(Duration::from_millis(1));
    world.settle().await;
    assert_eq!(world.state(soon).await, PublicState::Waiting);
    assert_eq!(world.state(late).await, PublicState::Delayed);
    world.pass(Duration::from_secs(2));
    world.settle().await;
    assert_eq!(world.state(late).await, PublicState::Waiting);
    world.engine.stop().await;
}

#[tokio::test]
async fn a_store_that_sends_no_hints_costs_one_sweep_at_most() {
    let world = World::new();
    world.store.silent.store(true, Ordering::SeqCst);
    world.engine.start();
    world.settle().await;
    let until = world.now() + SECOND;
    let id = world.submit(|command| command.delay_until = Some(until)).await;
    pass_slowly(&world, 10).await;
    assert_eq!(world.state(id).await, PublicState::Waiting);
    world.engine.stop().await;
}

#[tokio::test]
async fn an_audit_writes_what_has_drifted_again() {
    let world = World::new();
    let id = world.submit(|_| ()).await;
    let before = world.load(id).await.version(&RecordKey::Execution(id));
    *world.store.drifted.lock().unwrap() = Some(id);
    for _ in 0..counts().count(Family::Flow) {
        world.engine.pump_audit().await.unwrap();
    }
    assert_eq!(world.engine.repaired(), 1);
    assert_ne!(world.load(id).await.version(&RecordKey::Execution(id)), before);
    *world.store.drifted.lock().unwrap() = None;
    for _ in 0..counts().count(Family::Flow) {
        world.engine.pump_audit().await.unwrap();
    }
    assert_eq!(world.engine.repaired(), 1);
}

#[test]
fn every_duty_has_a_name_of_its_own() {
    let names: BTreeSet<&str> = Duty::ALL.iter().map(|duty| duty.as_str()).collect();
    assert_eq!(names.len(), Duty::ALL.len());
}

#[tokio::test]
async fn ten_thousand_due_at_once_are_handled_with_few_calls() {
    let world = World::new();
    world.engine.start();
    world.settle().await;
    let until = world.now() + SECOND;
    let mut ids = Vec::new();
    for _ in 0..10_000 {
        ids.push(world.submit(|command| command.delay_until = Some(until)).await);
    }
    world.settle().await;
    world.store.take_calls();
    world.pass(SECOND);
    for _ in 0..20 {
        world.settle().await;
    }
    for id in ids {
        assert_eq!(world.state(id).await, PublicState::Waiting);
    }
    let calls = world.store.take_calls();
    assert!(calls.values().sum::<u64>() <= 10 * (10_000 / 64), "{calls:?}");
    world.engine.stop().await;
}

#[tokio::test]
async fn a_store_with_one_connection_is_asked_while_work_under_way_uses_it() {
    let world = World::new();
    world.store.connections.set(Semaphore::new(1)).unwrap();
    let mut ids = Vec::new();
    for _ in 0..100 {
        let policy = Policy {
            retention: Some(Retention::For(SECOND)),
            ..Policy::default()
        };
        let id = world.submit_with(policy).await;
        let complete = Complete {
            fence: Some(world.lease(id).await),
            ..Complete::default()
        };
        world
            .decide(id, |it, context| lease::complete(it, &complete, context))
            .await;
        ids.push(id);
    }
    world.engine.start();
    pass_slowly(&world, 5).await;
    for id in ids {
        assert_eq!(world.find(id).await, None);
    }
    world.engine.stop().await;
}

#[tokio::test]
async fn a_record_that_cannot_be_handled_stalls_nobody() {
    let world = World::with(Config {
        liveness_interval: HostDuration::from_secs(100_000),
        ..Config::new(counts())
    });
    let until = world.now() + SECOND;
    let broken = world.submit(|command| command.delay_until = Some(until)).await;
    *world.store.broken.lock().unwrap() = Some(broken);
    world.engine.start();
    pass_slowly(&world, 2).await;
    let poisoned = world.engine.poisoned();
    assert_eq!(poisoned.len(), 1);
    assert!(poisoned[0].subject.contains(&broken.to_string()), "{poisoned:?}");
    let problems = world.engine.list_problems(ListProblems::default()).await.unwrap();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(
        (problems[0].kind, problems[0].namespace.is_some()),
        (ProblemKind::FollowUp, true)
    );
    assert_eq!(problems[0].subject, poisoned[0].subject);
    // Others in the same partition are handled, though their timers are behind the broken one.
    let until = world.now() + Duration::from_secs(2);
    let mut ids = Vec::new();
    for _ in 0..300 {
        ids.push(world.submit(|command| command.delay_until = Some(until)).await);
    }
    pass_slowly(&world, 4).await;
    for id in ids {
        assert_eq!(world.state(id).await, PublicState::Waiting);
    }
    // It is tried ever more seldom, and costs little meanwhile.
    pass_slowly(&world, 300).await;
    world.store.take_calls();
    pass_slowly(&world, 100).await;
    let calls = world.store.take_calls();
    assert!(calls.values().sum::<u64>() <= 200, "{calls:?}");
    let failures = world.engine.poisoned()[0].failures;
    assert!((8..=11).contains(&failures), "{failures}");
    *world.store.broken.lock().unwrap() = None;
    pass_slowly(&world, 301).await;
    assert_eq!(world.state(broken).await, PublicState::Waiting);
    assert!(world.engine.poisoned().is_empty());
    assert_eq!(world.engine.list_problems(ListProblems::default()).await.unwrap(), []);
    world.engine.stop().await;
}

#[tokio::test]
async fn everything_is_done_in_the_end_however_often_the_store_fails() {
    let world = World::new();
    let budget_id = world.budget(|command| command.dimensions.clear()).await;
    let quota_policy_id = world.quota(|command| command.max_concurrent = Some(1_000)).await;
    let mut delayed = Vec::new();
    let mut leased = Vec::new();
    for _ in 0..200 {
        let until = world.now() + Duration::from_secs(20);
        delayed.push(world.submit(|command| command.delay_until = Some(until)).await);
        let id = world.submit_with(under_quota(quota_policy_id)).await;
        let fence = world.lease(id).await;
        let report = ReportUsage {
            fence: Some(fence),
            budget_id,
            deltas: [(tokens(), 1)].into(),
            dedup_key: None,
            request_id: None,
        };
        world.report_usage(id, &report).await;
        leased.push(id);
    }
    world.store.one_fails_in.store(3, Ordering::SeqCst);
    world.engine.start();
    pass_slowly(&world, 120).await;
    world.store.one_fails_in.store(0, Ordering::SeqCst);
    pass_slowly(&world, 10).await;
    assert_eq!(world.spent(budget_id).await, 200, "each report counts once");
    for id in delayed.into_iter().chain(leased) {
        let execution = world.execution(id).await;
        assert!(execution.outbox.is_empty());
        assert_eq!(public_state(&execution), PublicState::Waiting);
    }
    assert!(world.engine.poisoned().is_empty(), "{:?}", world.engine.poisoned());
    world.engine.stop().await;
}

/// A process that can die.
struct Mortal {
    host: Arc<VirtualHost>,
    dead: AtomicBool,
    tasks: Mutex<Vec<tokio::task::AbortHandle>>,
}

impl Mortal {
    fn new(host: &Arc<VirtualHost>) -> Arc<Self> {
        Arc::new(Self {
            host: Arc::clone(host),
            dead: AtomicBool::new(false),
            tasks: Mutex::default(),
        })
    }

    fn die(&self) {
        self.dead.store(true, Ordering::SeqCst);
        for task in self.tasks.lock().unwrap().iter() {
            task.abort();
        }
    }
}

impl Host for Mortal {
    fn elapsed(&self) -> HostDuration {
        self.host.elapsed()
    }

    fn sleep(&self, duration: HostDuration) -> BoxFuture<'static, ()> {
        self.host.sleep(duration)
    }

    fn random(&self) -> u128 {
        self.host.random()
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        if !self.dead.load(Ordering::SeqCst) {
            self.tasks.lock().unwrap().push(tokio::spawn(task).abort_handle());
        }
    }
}

fn replica(world: &World) -> (Engine, Arc<Mortal>) {
    let host = Mortal::new(&world.host);
    let store = Arc::clone(&world.store) as Arc<dyn Backend>;
    let mut config = Config::new(counts());
    crate::support::turn_off(&mut config);
    let engine = Engine::new(store, Arc::clone(&host) as Arc<dyn Host>, config);
    engine.start();
    (engine, host)
}

/// How many ranges each replica has.
async fn shares(world: &World) -> Vec<usize> {
    let list = SettingsOp::List {
        prefix: "pump/range/".to_owned(),
        after: None,
        limit: 100,
    };
    let SettingsReply::Page(ranges) = world.store.memory.settings(vec![list]).await.unwrap().remove(0) else {
        panic!("no page");
    };
    let owner = |setting: &ff_backend::settings::Setting| setting.value.as_str().unwrap().to_owned();
    let owners: BTreeSet<String> = ranges.iter().map(owner).collect();
    let count = |name: &String| ranges.iter().filter(|setting| owner(setting) == *name).count();
    let mut shares: Vec<usize> = owners.iter().map(count).collect();
    shares.sort_unstable();
    shares
}

#[tokio::test]
async fn replicas_share_the_partitions_and_take_over_from_the_dead() {
    let world = World::new();
    let (first, _) = replica(&world);
    world.settle().await;
    assert_eq!(shares(&world).await, [16]);
    let (second, mortal) = replica(&world);
    let (third, _) = replica(&world);
    pass_slowly(&world, 15).await;
    assert_eq!(shares(&world).await, [5, 5, 6]);

    mortal.die();
    pass_slowly(&world, 25).await;
    assert_eq!(shares(&world).await, [8, 8]);

    third.stop().await;
    assert_eq!(
        shares(&world).await,
        [8],
        "a replica that stops gives its ranges back at once"
    );
    pass_slowly(&world, 6).await;
    assert_eq!(shares(&world).await, [16]);
    drop((first, second));
}

#[tokio::test]
async fn every_timer_is_handled_by_somebody_while_replicas_come_and_go() {
    let world = World::new();
    let (_first, dying) = replica(&world);
    let (second, _) = replica(&world);
    pass_slowly(&world, 10).await;
    let mut ids = Vec::new();
    for seconds in 0..60 {
        let until = world.now() + Duration::from_secs(seconds + 1);
        ids.push(world.submit(|command| command.delay_until = Some(until)).await);
    }
    pass_slowly(&world, 20).await;
    dying.die();
    pass_slowly(&world, 80).await;
    for id in ids {
        assert_eq!(world.state(id).await, PublicState::Waiting);
    }
    second.stop().await;
}

/// Timers of the next twenty seconds, none of which is a second late.
async fn timers_are_not_late(world: &World) {
    let mut timers = Vec::new();
    for tenths in 0..200 {
        let until = world.now() + Duration::from_millis(100 * tenths + 1_000);
        let id = world.submit(|command| command.delay_until = Some(until)).await;
        timers.push((until, id));
    }
    for _ in 0..20 {
        pass_slowly(world, 1).await;
        let over = world.now();
        for (until, id) in timers
            .iter()
            .filter(|(until, _)| over.since(*until) >= Duration::from_secs(1))
        {
            assert_eq!(
                world.state(*id).await,
                PublicState::Waiting,
                "{until:?}, and it is {over:?}"
            );
        }
    }
}

#[tokio::test]
async fn timers_are_not_late_while_a_replica_joins() {
    let world = World::new();
    let (_first, _) = replica(&world);
    pass_slowly(&world, 3).await;
    let (_second, _) = replica(&world);
    timers_are_not_late(&world).await;
}

#[tokio::test]
async fn timers_are_not_late_when_a_process_takes_the_place_of_one_that_crashed() {
    let world = World::new();
    // The leases of the first end before those who came after it are known to be gone.
    for seconds in [7, 6, 2] {
        let (_crashed, mortal) = replica(&world);
        pass_slowly(&world, seconds).await;
        mortal.die();
    }
    let (_last, _) = replica(&world);
    timers_are_not_late(&world).await;
}

#[tokio::test]
async fn a_stopped_engine_makes_no_calls() {
    let world = World::new();
    world.engine.start();
    pass_slowly(&world, 10).await;
    world.engine.stop().await;
    world.store.take_calls();
    world.engine.start();
    pass_slowly(&world, 100).await;
    assert_eq!(world.store.take_count(), 0);
    assert_eq!(shares(&world).await, Vec::<usize>::new());
}

#[cfg(feature = "switches")]
#[tokio::test]
async fn a_duty_that_is_turned_off_does_nothing_and_costs_little() {
    let mut config = Config::new(counts());
    config.disabled.insert(Duty::DelayOver);
    let world = World::with(config);
    world.engine.start();
    let until = world.now() + SECOND;
    let id = world.submit(|command| command.delay_until = Some(until)).await;
    pass_slowly(&world, 30).await;
    assert_eq!(world.state(id).await, PublicState::Delayed);
    world.store.take_calls();
    pass_slowly(&world, 100).await;
    assert!(world.store.take_count() <= 250);
    assert!(world.engine.poisoned().is_empty());
    world.engine.stop().await;
}
