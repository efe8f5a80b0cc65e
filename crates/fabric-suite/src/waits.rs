//! Waits that are steps: begun by the suspend, done with what resumes the execution.

use ff_core::command::claim::Task;
use ff_core::command::signal::ResumeExecution;
use ff_core::command::steps::{KeepSteps, StepView};
use ff_core::command::suspend::{Suspend, WaitpointChoice};
use ff_core::command::waitpoint::{IssuedWaitpoint, SuspendedTask};
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::payload::Payload;
use ff_core::record::{Matcher, ResumeCondition, ResumedBy, StepKind, StepState, TimeoutBehavior};
use ff_core::state::PublicState;
use serde_json::json;

use crate::Harness;
use crate::scene::{
    MINUTE, Scene, WORKER, accepted, brought, done, key, named, refused, signal, single, step_key, submission, waiting,
    waiting_for,
};

fn wait(task: &Task, name: &str) -> Suspend {
    Suspend {
        step: Some(step_key(name)),
        ..waiting(task)
    }
}

fn only(steps: &[StepView]) -> &StepView {
    let [step] = steps else { panic!("{steps:?}") };
    step
}

pub(crate) async fn a_wait_is_done_with_what_resumes_it(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let suspend = Suspend {
        steps: vec![done("before", "1")],
        ..wait(&task, "review#0")
    };
    let waitpoint = scene.suspended(&task, suspend).await.remove(0);
    let steps = scene.steps(task.execution_id).await;
    assert_eq!(named(&steps), [("before", 0), ("review#0", 1)]);
    assert_eq!((steps[1].kind, steps[1].state), (StepKind::Wait, StepState::Waiting));
    let sent = accepted(&scene.send(task.execution_id, &waitpoint, signal("yes")).await.unwrap());
    let next = scene.claim(WORKER).await;
    assert_eq!(named(brought(&next)), [("before", 0), ("review#0", 1)]);
    let waited = &brought(&next)[1];
    assert_eq!((waited.kind, waited.state), (StepKind::Wait, StepState::Done));
    assert_eq!(waited.resumed_by, Some(ResumedBy::Signals));
    let [counted] = &waited.signals[..] else {
        panic!("{waited:?}")
    };
    assert_eq!(
        (counted.signal.signal.id, &counted.waitpoint_key),
        (sent, &Some(key("answer")))
    );
    assert_eq!(counted.signal.payload, Payload::json(&json!({ "said": "yes" })));
    let resumed = next.resumed.as_ref().unwrap();
    assert_eq!(
        (resumed.by, resumed.signals.len()),
        (ResumedBy::Signals, 0),
        "they stand in the journal"
    );
    let again = scene.suspend(next.execution_id, wait(&next, "review#0")).await.unwrap();
    let over = SuspendedTask::AlreadySatisfied {
        signals: vec![sent],
        step_seq: Some(1),
    };
    assert_eq!(again, over, "it is over, and the lease is kept");
    scene.complete(&next).await.unwrap();
}

pub(crate) async fn a_wait_keeps_every_signal_that_counted_and_where_it_came(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let both = ResumeCondition::AllOf(vec![single("a", Matcher::Any), single("b", Matcher::Any)]);
    let suspend = Suspend {
        step: Some(step_key("gate#0")),
        ..waiting_for(&task, &["a", "b"], both)
    };
    let waitpoints = scene.suspended(&task, suspend).await;
    for waitpoint in waitpoints.iter().rev() {
        scene.send(task.execution_id, waitpoint, signal("x")).await.unwrap();
    }
    let next = scene.claim(WORKER).await;
    let came = only(brought(&next))
        .signals
        .iter()
        .map(|counted| counted.waitpoint_key.clone());
    assert_eq!(came.collect::<Vec<_>>(), [Some(key("b")), Some(key("a"))]);
}

pub(crate) async fn time_and_operators_end_waits_too(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let suspend = Suspend {
        timeout_at: Some(scene.now().await + MINUTE),
        timeout_behavior: Some(TimeoutBehavior::AutoResumeWithTimeoutSignal),
        ..wait(&task, "paid#0")
    };
    scene.suspended(&task, suspend).await;
    scene.after(MINUTE).await;
    let next = scene.claim(WORKER).await;
    let waited = only(brought(&next));
    assert_eq!(
        (waited.state, waited.resumed_by),
        (StepState::Done, Some(ResumedBy::Timeout))
    );
    assert_eq!(only_name(waited), ("timeout".to_owned(), None));
    scene.suspended(&next, wait(&next, "paid#1")).await;
    let resume = ResumeExecution {
        reason: None,
        request_id: None,
    };
    scene
        .fabric
        .resume_execution(On::new(task.execution_id, resume))
        .await
        .unwrap();
    let last = scene.claim(WORKER).await;
    assert_eq!(brought(&last)[1].resumed_by, Some(ResumedBy::Operator));
}

fn only_name(waited: &StepView) -> (String, Option<ff_core::name::WaitpointKey>) {
    let [counted] = &waited.signals[..] else {
        panic!("{waited:?}")
    };
    (counted.signal.signal.name.to_string(), counted.waitpoint_key.clone())
}

async fn with_early_signal<'s>(scene: &Scene<'s>, task: &Task) -> IssuedWaitpoint {
    let early = scene.hand_out(task, "callback").await;
    scene.send(task.execution_id, &early, signal("done")).await.unwrap();
    early
}

pub(crate) async fn a_wait_that_early_signals_meet_is_done_at_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let early = with_early_signal(&scene, &task).await;
    let suspend = Suspend {
        waitpoints: vec![WaitpointChoice::UsePending {
            waitpoint_id: early.waitpoint_id,
        }],
        resume_condition: single("callback", Matcher::Any),
        step: Some(step_key("cb#0")),
        ..waiting(&task)
    };
    for _ in 0..2 {
        let outcome = scene.suspend(task.execution_id, suspend.clone()).await.unwrap();
        assert!(
            matches!(outcome, SuspendedTask::AlreadySatisfied { step_seq: Some(0), .. }),
            "{outcome:?}"
        );
    }
    let steps = scene.steps(task.execution_id).await;
    let waited = only(&steps);
    assert_eq!(
        (waited.state, waited.resumed_by),
        (StepState::Done, Some(ResumedBy::Signals))
    );
    assert_eq!(
        waited.signals[0].signal.payload,
        Payload::json(&json!({ "said": "done" }))
    );
}

pub(crate) async fn a_wait_under_the_name_of_something_else_is_refused(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.recorded(&task, vec![done("a", "1")]).await;
    let refusal = scene.suspend(task.execution_id, wait(&task, "a")).await;
    assert_eq!(refused(refusal), Code::StepConflict);
    assert_eq!(scene.state(task.execution_id).await, PublicState::Active);
}

pub(crate) async fn a_wait_that_ended_otherwise_leaves_nothing(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.suspended(&task, wait(&task, "review#0")).await;
    scene.cancel(task.execution_id).await.unwrap();
    assert_eq!(scene.steps(task.execution_id).await, []);
    scene.replay(task.execution_id).await.unwrap();
    let next = scene.claim(WORKER).await;
    let waitpoint = scene.suspended(&next, wait(&next, "review#0")).await.remove(0);
    scene.send(task.execution_id, &waitpoint, signal("yes")).await.unwrap();
    let last = scene.claim(WORKER).await;
    assert_eq!(named(brought(&last)), [("review#0", 1)]);
}

pub(crate) async fn a_wait_that_a_replay_forgot_waits_again(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let waitpoint = scene.suspended(&task, wait(&task, "review#0")).await.remove(0);
    scene.send(task.execution_id, &waitpoint, signal("yes")).await.unwrap();
    let next = scene.claim(WORKER).await;
    scene.complete(&next).await.unwrap();
    scene.replay_keeping(task.execution_id, KeepSteps::None).await.unwrap();
    let again = scene.claim(WORKER).await;
    assert_eq!(again.journal, None);
    let waitpoint = scene.suspended(&again, wait(&again, "review#0")).await.remove(0);
    scene.send(task.execution_id, &waitpoint, signal("no")).await.unwrap();
    let last = scene.claim(WORKER).await;
    let waited = only(brought(&last));
    assert_eq!(
        waited.signals[0].signal.payload,
        Payload::json(&json!({ "said": "no" }))
    );
}
