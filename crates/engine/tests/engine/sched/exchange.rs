//! exchange: everything a worker has to say in one call, and what it gets.

use std::sync::Arc;

use super::support::{START, Store, claim, command, counts, settle, want};
use ff_core::command::claim::{Claim, Exchange, Exchanged, Finish, FinishedOutcome, Task};
use ff_core::command::lease::{Complete, Completed, Fail, Failed, LetGo, Release, Renew};
use ff_core::command::stream::AppendFrame;
use ff_core::command::worker::{DrainWorker, RegisterWorker};
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On};
use ff_core::frame::FrameMode;
use ff_core::id::{BudgetId, ExecutionId};
use ff_core::machine::budget::Stop;
use ff_core::machine::lease::request_stop;
use ff_core::name::{Category, FrameType, Namespace, WorkerId, WorkerInstanceId};
use ff_core::payload::Payload;
use ff_core::record::Incarnation;
use ff_core::time::Duration;
use ff_engine::{Config, Engine, VirtualHost};
use uuid::Uuid;

fn world() -> (Arc<Store>, Engine) {
    let store = Store::new();
    let host = Arc::new(VirtualHost::new(1));
    let engine = Engine::new(Arc::clone(&store) as _, host, Config::new(counts()));
    (store, engine)
}

fn exchange() -> Exchange {
    Exchange {
        namespace: Namespace::default_namespace(),
        worker: WorkerId::parse("worker").expect("a name"),
        instance: WorkerInstanceId::parse("worker-1").expect("a name"),
        incarnation: Incarnation(Uuid::from_u128(1)),
        finished: Vec::new(),
        renew: Vec::new(),
        frames: Vec::new(),
        usage: Vec::new(),
        want: None,
        load: Default::default(),
        // Nobody lets time pass here: whoever parks for nothing never comes back.
        wait: Duration::from_secs(30),
        request_id: None,
        steps: Vec::new(),
    }
}

async fn tasks(store: &Store, engine: &Engine, count: usize) -> Vec<Task> {
    for _ in 0..count {
        store.submit(command()).await;
    }
    let claim = Claim {
        want: want(count),
        ..claim(1)
    };
    let tasks = engine.claim(claim).await.expect("tasks");
    assert_eq!(tasks.len(), count);
    tasks
}

/// What an exchange is answered without parking.
async fn at_once(engine: &Engine, command: Exchange) -> Exchanged {
    let engine = engine.clone();
    let exchanged = tokio::spawn(async move { engine.exchange(command).await });
    settle().await;
    assert!(exchanged.is_finished(), "it parks");
    exchanged.await.expect("no panic").expect("an answer")
}

fn finished(task: &Task, how: Finish) -> On<ExecutionId, Finish> {
    On::new(task.execution_id, how.under(task.fence))
}

fn renewing(task: &Task) -> On<ExecutionId, Renew> {
    let renew = Renew {
        fence: Some(task.fence),
        ttl: None,
        doing: Vec::new(),
    };
    On::new(task.execution_id, renew)
}

fn frame(task: &Task, text: &'static str) -> On<ExecutionId, AppendFrame> {
    let frame = AppendFrame {
        fence: Some(task.fence),
        frame_type: FrameType::parse("text").expect("a name"),
        payload: Payload::binary(text),
        mode: FrameMode::Durable,
        correlation_id: None,
        request_id: None,
    };
    On::new(task.execution_id, frame)
}

#[tokio::test]
async fn results_come_in_the_order_things_were_said_in() {
    let (store, engine) = world();
    let tasks = tasks(&store, &engine, 5).await;
    let mut stale = tasks[4].fence;
    stale.lease_epoch += 1;
    let mut command = exchange();
    command.finished = vec![
        finished(&tasks[3], Finish::Release(Release::default())),
        finished(&tasks[0], Finish::Complete(Complete::default())),
        On::new(
            tasks[4].execution_id,
            Finish::Release(Release {
                fence: Some(stale),
                ..Release::default()
            }),
        ),
        finished(
            &tasks[2],
            Finish::Fail(Fail {
                fence: None,
                reason: "no".to_owned(),
                category: Category::parse("permanent").expect("a name"),
                retry_after: None,
                steps: Vec::new(),
            }),
        ),
    ];
    command.renew = vec![renewing(&tasks[1]), renewing(&tasks[4])];
    let exchanged = engine.exchange(command).await.unwrap();
    let [first, second, third, fourth] = &exchanged.results[..] else {
        panic!("{:?}", exchanged.results);
    };
    assert_eq!(first, &Ok(FinishedOutcome::Released(LetGo::Now)));
    assert_eq!(second, &Ok(FinishedOutcome::Completed(Completed::Now)));
    assert_eq!(third.as_ref().unwrap_err().code, Code::StaleLease);
    assert_eq!(fourth, &Ok(FinishedOutcome::Failed(Failed::TerminalFailed)));
    let renewed: Vec<_> = exchanged.renewed.iter().map(|renewed| renewed.execution_id).collect();
    assert_eq!(renewed, [tasks[1].execution_id, tasks[4].execution_id]);
    assert_eq!(exchanged.renewed[0].expires_at, Ok(START + Duration::from_secs(30)));
    assert_eq!(exchanged.server_time, START);
}

#[tokio::test]
async fn output_arrives_in_order_and_before_the_task_is_finished() {
    let (store, engine) = world();
    let tasks = tasks(&store, &engine, 2).await;
    let mut command = exchange();
    command.frames = vec![
        frame(&tasks[1], "x"),
        frame(&tasks[0], "a"),
        frame(&tasks[0], "b"),
        frame(&tasks[1], "y"),
    ];
    command.finished = vec![finished(&tasks[0], Finish::Complete(Complete::default()))];
    let exchanged = engine.exchange(command).await.unwrap();
    assert!(exchanged.results[0].is_ok());
    let counts: Vec<u64> = exchanged
        .frames
        .iter()
        .map(|frame| frame.as_ref().unwrap().frame_count)
        .collect();
    assert_eq!(counts, [1, 1, 2, 2]);
}

#[tokio::test]
async fn new_tasks_come_with_the_results_of_the_old() {
    let (store, engine) = world();
    let old = tasks(&store, &engine, 1).await;
    let id = store.submit(command()).await;
    let mut command = exchange();
    command.finished = vec![finished(&old[0], Finish::Complete(Complete::default()))];
    command.want = Some(want(5));
    let exchanged = engine.exchange(command).await.unwrap();
    assert!(exchanged.results[0].is_ok());
    assert_eq!(exchanged.tasks[0].execution_id, id);
}

#[tokio::test]
async fn whoever_is_drained_while_the_store_looks_for_work_is_given_none() {
    let (store, engine) = world();
    let id = store.submit(command()).await;
    let incarnation = exchange().incarnation;
    let register = RegisterWorker {
        namespace: Namespace::default_namespace(),
        worker: WorkerId::parse("worker").unwrap(),
        instance: WorkerInstanceId::parse("worker-1").unwrap(),
        incarnation,
        lanes: want(1).lanes,
        capabilities: want(1).capabilities,
        ttl: None,
        load: Default::default(),
    };
    engine.register_worker(register).await.unwrap();
    let other = engine.clone();
    let drain = DrainWorker {
        namespace: Namespace::default_namespace(),
        instance: WorkerInstanceId::parse("worker-1").unwrap(),
        reason: "a new version".to_owned(),
    };
    let act = async move {
        other.drain_worker(drain).await.unwrap();
    };
    store.before_next("reserve", Box::new(|_| Box::pin(act)));
    let mut command = exchange();
    command.want = Some(want(1));
    command.wait = Duration::ZERO;
    let exchanged = engine.exchange(command).await.unwrap();
    assert_eq!(exchanged.tasks, []);
    assert!(exchanged.drain.is_some());
    let next = engine.claim(claim(2)).await.unwrap();
    assert_eq!(next[0].execution_id, id, "it is there for others at once");
}

#[tokio::test]
async fn it_does_not_park_when_something_was_refused() {
    let (store, engine) = world();
    let old = tasks(&store, &engine, 1).await;
    let mut command = exchange();
    command.finished = vec![
        finished(&old[0], Finish::Complete(Complete::default())),
        finished(&old[0], Finish::Release(Release::default())),
    ];
    command.want = Some(want(1));
    let exchanged = at_once(&engine, command).await;
    assert!(exchanged.results[0].is_ok() && exchanged.results[1].is_err());
    assert_eq!(exchanged.tasks, []);
}

#[tokio::test]
async fn it_does_not_park_when_a_task_is_asked_to_stop() {
    let (store, engine) = world();
    let old = tasks(&store, &engine, 1).await;
    let stop = Stop {
        budget_id: BudgetId::from_uuid(Uuid::from_u128(1)),
        generation: 1,
        reason: "too expensive".to_owned(),
    };
    store
        .decide(old[0].execution_id, |execution, context| {
            request_stop(execution, &stop, context)
        })
        .await;
    let mut command = exchange();
    command.renew = vec![renewing(&old[0])];
    command.want = Some(want(1));
    let exchanged = at_once(&engine, command).await;
    let stop = exchanged.renewed[0].stop_requested.as_ref().unwrap();
    assert_eq!(stop.reason, "too expensive");
}

#[tokio::test]
async fn it_takes_nothing_when_it_wants_nothing() {
    let (store, engine) = world();
    store.submit(command()).await;
    for wanted in [None, Some(want(0))] {
        let mut command = exchange();
        command.want = wanted;
        command.wait = Duration::ZERO;
        assert_eq!(engine.exchange(command).await.unwrap().tasks, []);
    }
    assert_eq!(store.calls_of("reserve"), 0);
}

#[tokio::test]
async fn a_claim_that_fails_does_not_hide_what_was_done() {
    let (store, engine) = world();
    let old = tasks(&store, &engine, 1).await;
    store.set_broken("reserve", true);
    let mut command = exchange();
    command.finished = vec![finished(&old[0], Finish::Complete(Complete::default()))];
    command.want = Some(want(1));
    let exchanged = engine.exchange(command.clone()).await.unwrap();
    assert!(exchanged.results[0].is_ok());
    command.finished.clear();
    assert_eq!(engine.exchange(command).await.unwrap_err().code, Code::Unavailable);
}

#[tokio::test]
async fn an_exchange_of_more_than_a_thousand_items_is_refused_whole() {
    let (store, engine) = world();
    let old = tasks(&store, &engine, 1).await;
    let mut command = exchange();
    command.renew = vec![renewing(&old[0]); 1_000];
    command.finished = vec![finished(&old[0], Finish::Release(Release::default()))];
    let refused = engine.exchange(command).await.unwrap_err();
    assert_eq!(refused.code, Code::BatchTooLarge);
    assert!(store.execution(old[0].execution_id).await.lease().is_some());
}

#[tokio::test]
async fn a_want_outside_the_limits_is_refused_before_anything_is_done() {
    let (store, engine) = world();
    let old = tasks(&store, &engine, 1).await;
    let mut command = exchange();
    command.finished = vec![finished(&old[0], Finish::Release(Release::default()))];
    command.want = Some(want(1_001));
    assert_eq!(engine.exchange(command).await.unwrap_err().code, Code::InvalidInput);
    assert!(store.execution(old[0].execution_id).await.lease().is_some());
}
