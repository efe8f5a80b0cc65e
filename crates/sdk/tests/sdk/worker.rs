//! How a worker keeps, loses and gives back tasks.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ff_core::command::claim::{ClaimForWorker, IssuedGrant};
use ff_core::command::operator::RevokeLease;
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::fabric::types::ListOf;
use ff_core::name::{LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::state::PublicState;
use ff_sdk::{
    Client, Ctx, Drain, DrainThen, Fabric, Handler, Input, Run, State, Stop, TakeError, Task, TaskError, TaskLimits,
    UnknownKind, Worker, WorkerError, hours, secs,
};
use serde::{Deserialize, Serialize};

use crate::scene::Scene;
use crate::shaky::{Line, Shaky};
use crate::working::{Door, Hello, Working, until};

async fn hello(Input(job): Input<Hello>) -> String {
    format!("hello {}", job.name)
}

/// Says when it has begun, and ends when it is let.
async fn slow(Input(job): Input<Hello>, State(door): State<Door>) -> String {
    door.pass().await;
    format!("slow {}", job.name)
}

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "legacy", output = ())]
struct Legacy {}

#[tokio::test]
async fn what_was_finished_while_the_line_is_broken_is_sent_when_it_is_back() {
    for line in [Line::Down, Line::Deaf] {
        let scene = Scene::local();
        let (shaky, _told) = Shaky::new(scene.engine.clone());
        let door = Door::default();
        let builder = Worker::new(shaky.clone()).state(door.clone()).task(slow);
        let working = Working::new(&builder.build().unwrap());
        let run = scene.client.submit(Hello::ana()).await.unwrap();
        door.reached().await;
        shaky.set(line);
        let before = shaky.exchanges();
        door.open();
        until(|| async { shaky.exchanges() > before + 3 }).await;
        shaky.set(Line::Up);
        assert_eq!(run.result().await.unwrap(), "slow Ana");
        working.end().await.unwrap();
    }
}

#[tokio::test]
async fn a_renewal_that_nobody_answers_is_tried_again_before_the_lease_is_over() {
    let scene = Scene::local();
    let (shaky, _told) = Shaky::new(scene.engine.clone());
    let door = Door::default();
    let builder = Worker::new(shaky.clone()).lease(secs(4)).concurrency(1);
    let working = Working::new(&builder.state(door.clone()).task(slow).build().unwrap());
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    door.reached().await;
    shaky.set(Line::Hung);
    let before = shaky.exchanges();
    until(|| async { shaky.exchanges() == before + 1 }).await;
    // What comes after it gets through.
    shaky.set(Line::Up);
    until(|| async { shaky.exchanges() == before + 2 }).await;
    door.open();
    assert_eq!(run.result().await.unwrap(), "slow Ana");
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_cancelled_task_is_told_to_its_handler() {
    async fn stops(
        _: Input<Hello>,
        State(door): State<Door>,
        ctx: Ctx,
        seen: State<Arc<Mutex<Vec<Stop>>>>,
    ) -> Result<String, TaskError> {
        door.pass().await;
        let stop = ctx.stopped().await;
        assert!(ctx.is_stopping());
        seen.0.lock().unwrap().push(stop.clone());
        Err(stop.into())
    }
    let scene = Scene::local();
    let (door, seen) = (Door::default(), Arc::new(Mutex::new(Vec::<Stop>::new())));
    let builder = Worker::new(scene.engine.clone())
        .lease(secs(1))
        .state(door.clone())
        .state(Arc::clone(&seen));
    let working = Working::new(&builder.task(stops).build().unwrap());
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    door.reached().await;
    run.cancel("not wanted any more").await.unwrap();
    door.open();
    working.end().await.unwrap();
    assert_eq!(*seen.lock().unwrap(), [Stop::Cancelled]);
    assert_eq!(run.state().await.unwrap(), PublicState::Cancelled);
}

#[tokio::test]
async fn a_stop_reaches_its_handler_long_before_a_renewal() {
    async fn stops(
        _: Input<Hello>,
        State(door): State<Door>,
        State(seen): State<Seen>,
        ctx: Ctx,
    ) -> Result<String, TaskError> {
        door.pass().await;
        let stop = ctx.stopped().await;
        seen.send(stop.clone()).unwrap();
        Err(stop.into())
    }
    type Seen = tokio::sync::mpsc::UnboundedSender<Stop>;
    // With room for others, and without.
    for (concurrency, scene) in [2, 1].into_iter().flat_map(|n| Scene::each().map(|scene| (n, scene))) {
        let door = Door::default();
        let (seen, mut seeing) = tokio::sync::mpsc::unbounded_channel::<Stop>();
        let builder = Worker::new(scene.client.clone())
            .lease(hours(1))
            .concurrency(concurrency)
            .state(door.clone())
            .state(seen);
        let working = Working::new(&builder.task(stops).build().unwrap());
        let mut stop_of = async |run: &Run<String>, how: &str| {
            door.reached().await;
            door.open();
            match how {
                "cancel" => drop(run.cancel("not wanted any more").await.unwrap()),
                _ => {
                    let revoke = RevokeLease {
                        reason: None,
                        expected_lease_epoch: None,
                        request_id: None,
                    };
                    scene.engine.revoke_lease(On::new(run.id(), revoke)).await.unwrap();
                }
            }
            let patience = Duration::from_secs(20);
            tokio::time::timeout(patience, seeing.recv()).await.unwrap().unwrap()
        };
        let run = scene.client.submit(Hello::ana()).await.unwrap();
        assert_eq!(stop_of(&run, "cancel").await, Stop::Cancelled);
        let run = scene.client.submit(Hello::ana()).await.unwrap();
        assert_eq!(stop_of(&run, "revoke").await, Stop::LeaseLost);
        assert_eq!(stop_of(&run, "cancel").await, Stop::Cancelled);
        working.end().await.unwrap();
    }
}

#[tokio::test]
async fn a_lease_that_the_store_has_ended_stops_the_handler() {
    async fn stops(_: Input<Hello>, State(door): State<Door>, ctx: Ctx) -> Result<String, TaskError> {
        door.pass().await;
        let stop = ctx.stopped().await;
        assert_eq!(stop, Stop::LeaseLost);
        door.pass().await;
        Ok("too late".to_owned())
    }
    let scene = Scene::local();
    let door = Door::default();
    let builder = Worker::new(scene.engine.clone())
        .lease(secs(1))
        .concurrency(1)
        .state(door.clone());
    let working = Working::new(&builder.task(stops).build().unwrap());
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    door.reached().await;
    scene.pass(secs(120)).await;
    door.open();
    door.reached().await;
    let attempts = scene.client.get_execution(run.id()).await.unwrap();
    assert_ne!(attempts.state.public_state, PublicState::Completed);
    working.abort().await;
}

#[tokio::test]
async fn a_task_of_an_unknown_kind_is_put_off_and_says_why() {
    let scene = Scene::local();
    let builder = Worker::new(scene.engine.clone())
        .name("web")
        .instance("web-7")
        .task(hello);
    let working = Working::new(&builder.build().unwrap());
    let run = scene.client.submit(Legacy {}).await.unwrap();
    until(|| async { run.state().await.unwrap() == PublicState::Delayed }).await;
    let view = scene.engine.get_execution(run.id()).await.unwrap();
    assert_eq!(
        view.progress.unwrap().message.as_deref(),
        Some("worker web-7 has no handler for kind legacy")
    );
    working.end().await.unwrap();

    let builder = Worker::new(scene.engine.clone())
        .task(hello)
        .on_unknown_kind(UnknownKind::Fail);
    let working = Working::new(&builder.build().unwrap());
    // The worker reckons from its own clock, which goes on a little after it heard the time.
    scene.pass(secs(16)).await;
    let error = run.result().await.unwrap_err().to_string();
    assert!(error.contains("has no handler for kind legacy"), "{error}");
    working.end().await.unwrap();
}

#[tokio::test]
async fn what_exceeds_the_limit_of_its_kind_comes_back_later() {
    let scene = Scene::local();
    let door = Door::default();
    let limited = slow.with(TaskLimits { concurrency: 1 });
    let working = Working::new(
        &Worker::new(scene.engine.clone())
            .state(door.clone())
            .task(limited)
            .build()
            .unwrap(),
    );
    let first = scene.client.submit(Hello::ana()).await.unwrap();
    door.reached().await;
    let second = scene.client.submit(Hello::ana()).await.unwrap();
    until(|| async { second.state().await.unwrap() == PublicState::Delayed }).await;
    door.open();
    first.result().await.unwrap();
    // A worker adds what has passed here to what the store said last.
    scene.pass(secs(30)).await;
    door.reached().await;
    door.open();
    second.result().await.unwrap();
    working.end().await.unwrap();
}

#[tokio::test]
async fn an_instance_that_lives_is_not_taken_twice() {
    let scene = Scene::local();
    let worker = || {
        Worker::new(scene.engine.clone())
            .instance("web-1")
            .task(hello)
            .build()
            .unwrap()
    };
    let first = worker();
    let working = Working::new(&first);
    scene.client.submit(Hello::ana()).await.unwrap().result().await.unwrap();
    let error = worker().run_until(std::future::pending()).await.unwrap_err();
    assert!(
        matches!(&error, WorkerError::InstanceTaken { instance, .. } if instance == "web-1"),
        "{error}"
    );
    let error = first.run_until(std::future::pending()).await.unwrap_err();
    assert!(matches!(error, WorkerError::RunsAlready), "{error}");
    working.end().await.unwrap();
    assert!(workers(&scene).await.is_empty(), "it has taken its leave");
    let again = Working::new(&worker());
    scene.client.submit(Hello::ana()).await.unwrap().result().await.unwrap();
    again.end().await.unwrap();
}

async fn workers(scene: &Scene) -> Vec<String> {
    let listed = scene
        .engine
        .list_workers(ListOf {
            namespace: Namespace::default_namespace(),
            page: Default::default(),
        })
        .await
        .unwrap();
    listed.items.iter().map(|worker| worker.instance.to_string()).collect()
}

#[tokio::test]
async fn a_drain_lets_the_running_finish_and_gives_back_what_has_not_begun() {
    let scene = Scene::local();
    let door = Door::default();
    let builder = Worker::new(scene.engine.clone())
        .concurrency(1)
        .prefetch(1)
        .state(door.clone());
    let working = Working::new(&builder.task(slow).build().unwrap());
    let first = scene.client.submit(Hello::ana()).await.unwrap();
    door.reached().await;
    let second = scene.client.submit(Hello::ana()).await.unwrap();
    until(|| async { second.state().await.unwrap() == PublicState::Active }).await;
    let ending = tokio::spawn(working.end());
    until(|| async { second.state().await.unwrap() == PublicState::Waiting }).await;
    assert_eq!(first.state().await.unwrap(), PublicState::Active);
    door.open();
    assert_eq!(first.result().await.unwrap(), "slow Ana");
    ending.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_handler_that_outlasts_the_drain_is_dropped_and_its_task_goes_to_the_next_worker() {
    async fn stops(_: Input<Hello>, State(door): State<Door>, ctx: Ctx) -> Result<String, TaskError> {
        door.pass().await;
        Err(ctx.stopped().await.into())
    }
    let scene = Scene::local();
    let door = Door::default();
    let drain = Drain {
        timeout: Duration::ZERO,
        then: DrainThen::Drop,
    };
    let working = Working::new(
        &Worker::new(scene.engine.clone())
            .drain(drain)
            .state(door.clone())
            .task(stops)
            .build()
            .unwrap(),
    );
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    door.reached().await;
    door.open();
    working.end().await.unwrap();
    assert_eq!(run.state().await.unwrap(), PublicState::Waiting);
    let next = Working::new(&Worker::new(scene.engine.clone()).task(hello).build().unwrap());
    assert_eq!(run.result().await.unwrap(), "hello Ana");
    next.end().await.unwrap();
}

#[tokio::test]
async fn a_worker_whose_run_is_dropped_gives_its_tasks_back() {
    let scene = Scene::local();
    let door = Door::default();
    let working = Working::new(
        &Worker::new(scene.engine.clone())
            .state(door.clone())
            .task(slow)
            .build()
            .unwrap(),
    );
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    door.reached().await;
    working.abort().await;
    until(|| async { run.state().await.unwrap() == PublicState::Waiting }).await;
    until(|| async { workers(&scene).await.is_empty() }).await;
}

#[tokio::test]
async fn a_grant_is_taken_while_there_is_room() {
    let scene = Scene::local();
    let door = Door::default();
    let builder = Worker::new(scene.engine.clone())
        .name("web")
        .instance("web-1")
        .lanes(["other"])
        .concurrency(1);
    let worker = builder.state(door.clone()).task(slow).build().unwrap();
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    let second = scene.client.submit(Hello::ana()).await.unwrap();
    let (granted, another) = (grant(&scene).await, grant(&scene).await);
    assert!(matches!(worker.take(granted.clone()).await, Err(TakeError::NotRunning)));
    let working = Working::new(&worker);
    until(|| async { !workers(&scene).await.is_empty() }).await;
    worker.take(granted).await.unwrap();
    door.reached().await;
    assert!(matches!(worker.take(another.clone()).await, Err(TakeError::AtCapacity)));
    door.open();
    run.result().await.unwrap();
    until(|| async { !matches!(worker.take(another.clone()).await, Err(TakeError::AtCapacity)) }).await;
    door.reached().await;
    door.open();
    second.result().await.unwrap();
    working.end().await.unwrap();
}

async fn grant(scene: &Scene) -> IssuedGrant {
    let claim = ClaimForWorker {
        namespace: Namespace::default_namespace(),
        lane: LaneId::default_lane(),
        worker: WorkerId::parse("web").unwrap(),
        instance: WorkerInstanceId::parse("web-1").unwrap(),
        capabilities: Default::default(),
        grant_ttl: None,
    };
    scene.engine.claim_for_worker(claim).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_worker_that_may_not_work_ends_and_says_so() {
    let scene = Scene::local();
    let mut caller = ff_core::caller::Caller::local();
    caller.role = ff_core::caller::Role::Reader;
    let worker = Worker::new(Client::local(scene.engine.acting_as(caller)))
        .task(hello)
        .build()
        .unwrap();
    let error = Working::new(&worker).ended().await.unwrap_err();
    assert!(
        matches!(&error, WorkerError::Refused(refusal) if refusal.code == Code::Forbidden),
        "{error}"
    );
}
