//! One turn of a remote worker's loop.

use std::sync::Arc;

use ff_core::command::budget::{CreateBudget, Reported};
use ff_core::command::claim::{Claim, Exchange, Exchanged, Finish, FinishedOutcome, Task};
use ff_core::command::flow::{WaitChildren, WaitedChildren};
use ff_core::command::lease::{Complete, Completed, DelayUntil, Fail, Failed, LetGo, Release, Renew};
use ff_core::command::worker::{DrainWorker, RegisterWorker};
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::name::{Category, Namespace, RequestId, WorkerId};
use ff_core::record::{Incarnation, OnHardLimit, StepUnderWay};
use ff_core::state::PublicState;
use ff_core::time::Duration;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::Harness;
use crate::scene::{
    HOUR, Scene, WORKER, budget_of, claim, frame, instance, into_flow, issued, promptly, refused, registration, signal,
    submission, under, usage, waiting,
};

pub(crate) async fn what_was_finished_is_answered_in_order(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.fabric.create_executions(vec![submission(); 4]).await.unwrap();
    let tasks = take(&scene, 4).await;
    let ways = [
        Finish::Complete(Complete::default()),
        Finish::Fail(Fail {
            fence: None,
            reason: "no".to_owned(),
            category: Category::permanent(),
            retry_after: None,
            steps: Vec::new(),
        }),
        Finish::Delay(DelayUntil {
            fence: None,
            until: tasks[2].now + HOUR,
            step: None,
            steps: Vec::new(),
        }),
        Finish::Release(Release::default()),
    ];
    let finished = tasks.iter().zip(ways).map(|(task, how)| end(task, how));
    let turn = Exchange {
        finished: finished.collect(),
        ..exchange()
    };
    let answer = scene.fabric.exchange(turn).await.unwrap();
    let expected = [
        FinishedOutcome::Completed(Completed::Now),
        FinishedOutcome::Failed(Failed::TerminalFailed),
        FinishedOutcome::Delayed(LetGo::Now),
        FinishedOutcome::Released(LetGo::Now),
    ];
    assert_eq!(
        answer.results.into_iter().map(Result::unwrap).collect::<Vec<_>>(),
        expected
    );
    let states = [
        PublicState::Completed,
        PublicState::Failed,
        PublicState::Delayed,
        PublicState::Waiting,
    ];
    for (task, state) in tasks.iter().zip(states) {
        assert_eq!(scene.state(task.execution_id).await, state);
    }
}

pub(crate) async fn a_task_is_suspended_in_an_exchange(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let turn = Exchange {
        finished: vec![end(&task, Finish::Suspend(Box::new(waiting(&task))))],
        ..exchange()
    };
    let answer = scene.fabric.exchange(turn).await.unwrap().results.remove(0).unwrap();
    let FinishedOutcome::Suspended(suspended) = answer else {
        panic!("not suspended: {answer:?}");
    };
    let waitpoint = issued(suspended).remove(0);
    scene.send(task.execution_id, &waitpoint, signal("go")).await.unwrap();
    assert_eq!(scene.state(task.execution_id).await, PublicState::Resumable);
}

pub(crate) async fn a_task_waits_for_children_in_an_exchange(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let task = scene.held(into_flow(flow, &[])).await;
    let child = scene.join(flow, &[]).await;
    scene.depend(flow, child, task.execution_id).await.unwrap();
    let turn = Exchange {
        finished: vec![end(&task, Finish::WaitChildren(WaitChildren::default()))],
        ..exchange()
    };
    let answer = scene.fabric.exchange(turn).await.unwrap().results.remove(0).unwrap();
    assert_eq!(answer, FinishedOutcome::WaitedChildren(WaitedChildren::Waiting));
    assert_eq!(scene.state(task.execution_id).await, PublicState::WaitingChildren);
}

pub(crate) async fn leases_are_kept_in_an_exchange(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (task, lost) = (scene.running(submission()).await, scene.running(submission()).await);
    scene.revoke(lost.execution_id).await.unwrap();
    let renew = [&task, &lost].map(keep);
    let answer = scene
        .fabric
        .exchange(Exchange {
            renew: renew.to_vec(),
            ..exchange()
        })
        .await
        .unwrap();
    let renewed = &answer.renewed[0];
    assert_eq!(
        (renewed.execution_id, &renewed.stop_requested),
        (task.execution_id, &None)
    );
    assert!(*renewed.expires_at.as_ref().unwrap() > task.expires_at);
    assert_eq!(
        answer.renewed[1].expires_at.as_ref().unwrap_err().code,
        Code::LeaseRevoked
    );
    assert!(answer.server_time >= task.now);
}

pub(crate) async fn a_worker_learns_in_an_exchange_that_it_should_stop(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let strict = CreateBudget {
        on_hard_limit: OnHardLimit::CancelActive,
        ..budget_of(10)
    };
    let budget = scene.fabric.create_budget(strict).await.unwrap().budget_id;
    let task = scene.held(under(budget)).await;
    scene.spend(budget, 11).await.unwrap();
    scene.settle().await;
    let turn = Exchange {
        renew: vec![keep(&task)],
        ..patient()
    };
    let answer = promptly(scene.fabric.exchange(turn)).await.unwrap();
    let stop = answer.renewed[0].stop_requested.as_ref().unwrap();
    assert!(stop.reason.contains(&budget.to_string()), "{}", stop.reason);
    assert!(answer.tasks.is_empty(), "it does not park");
}

pub(crate) async fn output_and_usage_go_along(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let task = scene.running(under(budget)).await;
    let id = task.execution_id;
    let turn = Exchange {
        frames: vec![On::new(id, frame(&task, "a")), On::new(id, frame(&task, "b"))],
        usage: vec![On::new(id, usage(&task, budget, 6))],
        ..exchange()
    };
    let answer = scene.fabric.exchange(turn).await.unwrap();
    assert_eq!(answer.frames[1].as_ref().unwrap().frame_count, 2);
    assert!(matches!(answer.usage[0], Ok(Reported::SoftBreach { .. })));
    assert_eq!(scene.texts(&task).await, ["a", "b"]);
    assert_eq!(scene.spent(budget).await, 6);
}

pub(crate) async fn output_of_a_task_that_is_finished_comes_first(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let task = scene.running(under(budget)).await;
    let id = task.execution_id;
    let turn = Exchange {
        finished: vec![end(&task, Finish::Complete(Complete::default()))],
        frames: vec![On::new(id, frame(&task, "last words"))],
        usage: vec![On::new(id, usage(&task, budget, 1))],
        ..exchange()
    };
    let answer = scene.fabric.exchange(turn).await.unwrap();
    assert!(answer.frames[0].is_ok() && answer.usage[0].is_ok());
    assert_eq!(answer.results[0], Ok(FinishedOutcome::Completed(Completed::Now)));
    assert_eq!(scene.texts(&task).await, ["last words"]);
}

pub(crate) async fn one_bad_item_does_not_fail_the_others(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (good, bad) = (scene.running(submission()).await, scene.running(submission()).await);
    scene.revoke(bad.execution_id).await.unwrap();
    let finished = [&bad, &good].map(|task| end(task, Finish::Complete(Complete::default())));
    let turn = Exchange {
        finished: finished.to_vec(),
        ..exchange()
    };
    let answer = scene.fabric.exchange(turn).await.unwrap();
    assert_eq!(answer.results[0].as_ref().unwrap_err().code, Code::LeaseRevoked);
    assert_eq!(answer.results[1], Ok(FinishedOutcome::Completed(Completed::Now)));
}

pub(crate) async fn an_exchange_is_safe_to_repeat(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let turn = Exchange {
        finished: vec![end(&task, Finish::Complete(Complete::default()))],
        ..exchange()
    };
    scene.fabric.exchange(turn.clone()).await.unwrap();
    let again = scene.fabric.exchange(turn).await.unwrap();
    assert_eq!(again.results[0], Ok(FinishedOutcome::Completed(Completed::Already)));
}

pub(crate) async fn output_and_usage_of_a_repeated_exchange_count_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let task = scene.running(under(budget)).await;
    let id = task.execution_id;
    let turn = |request_id| Exchange {
        frames: vec![On::new(id, frame(&task, "a")), On::new(id, frame(&task, "a"))],
        usage: vec![
            On::new(id, usage(&task, budget, 1)),
            On::new(id, usage(&task, budget, 1)),
        ],
        request_id: Some(RequestId::parse(request_id).unwrap()),
        ..exchange()
    };
    let first = scene.fabric.exchange(turn("1")).await.unwrap();
    let again = scene.fabric.exchange(turn("1")).await.unwrap();
    let ids = |exchanged: Exchanged| exchanged.frames.into_iter().map(|frame| frame.unwrap().frame_id);
    assert!(ids(again).eq(ids(first)));
    assert_eq!(scene.texts(&task).await, ["a", "a"]);
    assert_eq!(scene.spent(budget).await, 2);
    scene.fabric.exchange(turn("2")).await.unwrap();
    assert_eq!(
        scene.texts(&task).await,
        ["a"; 4],
        "another exchange says something else"
    );
    assert_eq!(scene.spent(budget).await, 4);
}

pub(crate) async fn an_exchange_hands_out_what_is_wanted(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let ids = scene.submit_in_turn(3).await;
    let none = scene.fabric.exchange(exchange()).await.unwrap();
    assert!(none.tasks.is_empty(), "nothing was wanted");
    let mut turn = Exchange {
        want: Some(claim(WORKER).want),
        ..exchange()
    };
    turn.want.as_mut().unwrap().max = 2;
    let answer = scene.fabric.exchange(turn.clone()).await.unwrap();
    let got: Vec<_> = answer.tasks.iter().map(|task| task.execution_id).collect();
    assert_eq!(got, ids[..2]);
    turn.want.as_mut().unwrap().max = 0;
    assert!(scene.fabric.exchange(turn).await.unwrap().tasks.is_empty());
}

pub(crate) async fn what_is_finished_is_so_before_anything_is_handed_out(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let turn = Exchange {
        finished: vec![end(&task, Finish::Release(Release::default()))],
        ..patient()
    };
    let answer = promptly(scene.fabric.exchange(turn)).await.unwrap();
    assert_eq!(answer.results[0], Ok(FinishedOutcome::Released(LetGo::Now)));
    assert_eq!(
        answer.tasks[0].execution_id, task.execution_id,
        "it was there to be taken again"
    );
}

pub(crate) async fn a_parked_exchange_gets_what_is_submitted(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let fabric = Arc::clone(&scene.fabric);
    let parked = tokio::spawn(async move { fabric.exchange(patient()).await });
    let id = scene.submit_plain().await;
    let answer = promptly(parked).await.unwrap().unwrap();
    assert_eq!(answer.tasks[0].execution_id, id);
}

pub(crate) async fn an_exchange_with_bad_news_does_not_park(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let lost = scene.running(submission()).await;
    scene.cancel(lost.execution_id).await.unwrap();
    let turn = Exchange {
        renew: vec![keep(&lost)],
        ..patient()
    };
    let answer = promptly(scene.fabric.exchange(turn)).await.unwrap();
    assert_eq!(
        answer.renewed[0].expires_at.as_ref().unwrap_err().code,
        Code::ExecutionNotActive
    );
    assert!(answer.tasks.is_empty());
}

/// An exchange that waits, and has said so.
async fn parked(scene: &Scene<'_>, task: &Task, turn: Exchange) -> JoinHandle<Result<Exchanged>> {
    let mut renewal = keep(task);
    renewal.command.doing.push(StepUnderWay {
        step: "here".to_owned(),
        started_at: task.now,
    });
    let turn = Exchange {
        renew: vec![renewal],
        ..turn
    };
    let fabric = Arc::clone(&scene.fabric);
    let parked = tokio::spawn(async move { fabric.exchange(turn).await });
    while scene.view(task.execution_id).await.doing.is_empty() {
        assert!(!parked.is_finished(), "it does not wait");
    }
    parked
}

pub(crate) async fn an_exchange_that_waits_is_told_of_stops_at_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let told = |answer: Exchanged| -> Vec<_> {
        let stops = answer.stops.into_iter();
        stops
            .map(|stop| (stop.execution_id, stop.lease_epoch, stop.stop_requested.is_some()))
            .collect()
    };
    let task = scene.running(submission()).await;
    let waiting = parked(&scene, &task, patient()).await;
    scene.cancel(task.execution_id).await.unwrap();
    let answer = promptly(waiting).await.unwrap().unwrap();
    let late = scene.fabric.renew(keep(&task)).await.unwrap_err();
    assert_eq!(answer.stops[0].error.as_ref(), Some(&late), "as who renews is told");
    assert_eq!(told(answer), [(task.execution_id, task.fence.lease_epoch, false)]);

    let budget = CreateBudget {
        on_hard_limit: OnHardLimit::CancelActive,
        ..budget_of(10)
    };
    let budget = scene.fabric.create_budget(budget).await.unwrap().budget_id;
    let task = scene.running(under(budget)).await;
    let waiting = parked(&scene, &task, patient()).await;
    scene.spend(budget, 11).await.unwrap();
    scene.settle().await;
    let answer = promptly(waiting).await.unwrap().unwrap();
    assert_eq!(
        told(answer),
        [(task.execution_id, task.fence.lease_epoch, true)],
        "it may still finish"
    );
}

pub(crate) async fn whoever_waits_for_work_is_told_at_once_that_it_is_drained(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let register = RegisterWorker {
        incarnation: exchange().incarnation,
        ..registration(WORKER)
    };
    scene.fabric.register_worker(register.clone()).await.unwrap();
    let task = scene.running(submission()).await;
    let waiting = parked(&scene, &task, patient()).await;
    let asking = Claim {
        wait: patient().wait,
        ..claim(WORKER)
    };
    let fabric = Arc::clone(&scene.fabric);
    let asking = tokio::spawn(async move { fabric.claim(asking).await });
    let drain = DrainWorker {
        namespace: register.namespace,
        instance: register.instance,
        reason: "a new version".to_owned(),
    };
    let drained = scene.fabric.drain_worker(drain).await.unwrap().drain;
    let late = scene.submit_plain().await;
    let answer = promptly(waiting).await.unwrap().unwrap();
    assert_eq!((answer.tasks.len(), answer.drain), (0, drained));
    scene.settle().await;
    assert_eq!(
        scene.state(late).await,
        PublicState::Waiting,
        "nor is a claim handed it"
    );
    asking.abort();
}

pub(crate) async fn a_worker_without_room_may_wait_to_be_told_of_stops(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let mut turn = patient();
    turn.want.as_mut().unwrap().max = 0;
    let waiting = parked(&scene, &task, turn.clone()).await;
    let other = scene.submit(submission()).await;
    scene.settle().await;
    assert!(!waiting.is_finished());
    scene.cancel(task.execution_id).await.unwrap();
    let answer = promptly(waiting).await.unwrap().unwrap();
    assert_eq!(answer.stops[0].execution_id, task.execution_id);
    assert!(answer.tasks.is_empty());
    assert_eq!(scene.state(other).await, PublicState::Waiting, "it was not asked for");
    let at_once = Exchange {
        wait: Duration::ZERO,
        ..turn
    };
    assert!(promptly(scene.fabric.exchange(at_once)).await.unwrap().stops.is_empty());
}

pub(crate) async fn a_stop_between_two_exchanges_is_told_to_the_next_one_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.fabric.exchange(exchange()).await.unwrap();
    let task = scene.running(submission()).await;
    scene.cancel(task.execution_id).await.unwrap();
    let told = scene.fabric.exchange(exchange()).await.unwrap().stops;
    assert_eq!(told[0].execution_id, task.execution_id);
    assert_eq!(scene.fabric.exchange(exchange()).await.unwrap().stops, []);
}

pub(crate) async fn an_exchange_has_at_most_1_000_items(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let turn = Exchange {
        renew: vec![keep(&task); 1_001],
        ..exchange()
    };
    assert_eq!(refused(scene.fabric.exchange(turn).await), Code::BatchTooLarge);
}

async fn take(scene: &Scene<'_>, max: usize) -> Vec<Task> {
    let mut turn = Exchange {
        want: Some(claim(WORKER).want),
        ..exchange()
    };
    turn.want.as_mut().unwrap().max = max;
    let tasks = scene.fabric.exchange(turn).await.unwrap().tasks;
    assert_eq!(tasks.len(), max);
    tasks
}

/// A turn in which nothing is said.
pub(crate) fn exchange() -> Exchange {
    Exchange {
        namespace: Namespace::default_namespace(),
        worker: WorkerId::parse(WORKER).unwrap(),
        instance: instance(WORKER),
        incarnation: Incarnation(Uuid::from_u128(1)),
        finished: Vec::new(),
        renew: Vec::new(),
        frames: Vec::new(),
        usage: Vec::new(),
        want: None,
        load: Default::default(),
        wait: Duration::ZERO,
        request_id: None,
        steps: Vec::new(),
    }
}

/// A turn of somebody who waits for a task.
pub(crate) fn patient() -> Exchange {
    Exchange {
        want: Some(claim(WORKER).want),
        wait: Duration::from_secs(30),
        ..exchange()
    }
}

fn end(task: &Task, how: Finish) -> On<ExecutionId, Finish> {
    On::new(task.execution_id, how.under(task.fence))
}

const fn keep(task: &Task) -> On<ExecutionId, Renew> {
    let renew = Renew {
        fence: Some(task.fence),
        ttl: None,
        doing: Vec::new(),
    };
    On::new(task.execution_id, renew)
}
