//! Steps that come with the end of a lease: recorded with it, or refused with it.

use ff_core::command::claim::{Exchange, Finish, Task};
use ff_core::command::flow::WaitChildren;
use ff_core::command::lease::{Complete, DelayUntil, Fail, Release};
use ff_core::command::steps::{ProgressNote, RecordSteps, StepReport, StepStatus};
use ff_core::command::suspend::Suspend;
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::name::Category;
use ff_core::record::{StepKind, StepState};
use ff_core::state::PublicState;
use ff_core::time::Timestamp;

use crate::Harness;
use crate::exchanges::{exchange, patient};
use crate::scene::{
    MINUTE, Scene, WORKER, brought, done, named, promptly, refused, retrying, step_key, submission, waiting,
};

/// Lets a task go in every way there is, with these steps.
fn ways(task: &Task, steps: Vec<StepReport>, until: Timestamp) -> Vec<Finish> {
    let fence = Some(task.fence);
    vec![
        Finish::Complete(Complete {
            fence,
            result: None,
            steps: steps.clone(),
        }),
        Finish::Fail(Fail {
            fence,
            reason: "not now".to_owned(),
            category: Category::parse("transient").unwrap(),
            retry_after: None,
            steps: steps.clone(),
        }),
        Finish::Release(Release {
            fence,
            steps: steps.clone(),
        }),
        Finish::Delay(DelayUntil {
            fence,
            until,
            steps: steps.clone(),
            step: None,
        }),
        Finish::WaitChildren(WaitChildren {
            fence,
            steps: steps.clone(),
        }),
        Finish::Suspend(Box::new(Suspend { steps, ..waiting(task) })),
    ]
}

async fn let_go(scene: &Scene<'_>, task: &Task, how: Finish) -> Result<()> {
    let turn = Exchange {
        finished: vec![On::new(task.execution_id, how)],
        ..exchange()
    };
    let mut exchanged = scene.fabric.exchange(turn).await?;
    exchanged.results.remove(0).map(|_| ())
}

pub(crate) async fn every_way_to_let_a_task_go_records_its_steps(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    for way in 0..6 {
        let task = scene.running(retrying(1)).await;
        let until = scene.now().await + MINUTE;
        let how = ways(&task, vec![done("a", "1"), done("b", "2")], until).remove(way);
        let_go(&scene, &task, how.clone()).await.unwrap();
        let steps = scene.steps(task.execution_id).await;
        assert_eq!(named(&steps), [("a", 0), ("b", 1)], "{how:?}");
        scene.cancel(task.execution_id).await.ok();
    }
}

pub(crate) async fn a_task_that_may_not_record_its_steps_is_not_let_go(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.recorded(&task, vec![done("a", "1")]).await;
    let until = scene.now().await + MINUTE;
    for how in ways(&task, vec![done("b", "2"), done("a", "other")], until) {
        assert_eq!(refused(let_go(&scene, &task, how).await), Code::StepConflict);
        assert_eq!(scene.state(task.execution_id).await, PublicState::Active);
    }
    assert_eq!(named(&scene.steps(task.execution_id).await), [("a", 0)]);
}

pub(crate) async fn a_repeated_finish_records_its_steps_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    for _ in 0..2 {
        let complete = Finish::Complete(Complete {
            fence: Some(task.fence),
            result: None,
            steps: vec![done("a", "1")],
        });
        let_go(&scene, &task, complete).await.unwrap();
    }
    assert_eq!(named(&scene.steps(task.execution_id).await), [("a", 0)]);
}

pub(crate) async fn a_delay_with_a_name_is_a_sleep(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let until = scene.now().await + MINUTE;
    let sleep = |task: &Task, name: &str| {
        let delay = DelayUntil {
            fence: Some(task.fence),
            until,
            steps: Vec::new(),
            step: Some(step_key(name)),
        };
        scene.fabric.delay(On::new(task.execution_id, delay))
    };
    sleep(&task, "cool#0").await.unwrap();
    assert!(scene.try_claim(WORKER).await.is_none());
    scene.after(MINUTE).await;
    let next = scene.claim(WORKER).await;
    let [slept] = brought(&next) else {
        panic!("{:?}", next.journal);
    };
    assert_eq!(
        (slept.kind, slept.state, slept.until),
        (StepKind::Sleep, StepState::Done, Some(until))
    );
    scene.recorded(&next, vec![done("a", "1")]).await;
    assert_eq!(refused(sleep(&next, "a").await), Code::StepConflict);
}

pub(crate) async fn the_name_of_a_pause_stands_nowhere_else_in_its_call(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let delay = DelayUntil {
        fence: Some(task.fence),
        until: scene.now().await + MINUTE,
        steps: vec![done("a", "1")],
        step: Some(step_key("a")),
    };
    let suspend = Suspend {
        steps: vec![done("a", "1")],
        step: Some(step_key("a")),
        ..waiting(&task)
    };
    for how in [Finish::Delay(delay), Finish::Suspend(Box::new(suspend))] {
        assert_eq!(refused(let_go(&scene, &task, how).await), Code::InvalidInput);
    }
    assert_eq!(scene.state(task.execution_id).await, PublicState::Active);
    assert_eq!(scene.steps(task.execution_id).await, []);
}

pub(crate) async fn an_exchange_records_steps_before_it_finishes(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let steps = RecordSteps {
        fence: Some(task.fence),
        steps: vec![done("a", "1")],
        progress: Some(ProgressNote {
            pct: Some(50),
            message: None,
        }),
    };
    let complete = Complete {
        fence: Some(task.fence),
        result: None,
        steps: vec![done("a", "1"), done("b", "2")],
    };
    let turn = Exchange {
        steps: vec![On::new(task.execution_id, steps)],
        finished: vec![On::new(task.execution_id, Finish::Complete(complete))],
        ..exchange()
    };
    let exchanged = scene.fabric.exchange(turn).await.unwrap();
    let recorded = exchanged.steps[0].as_ref().unwrap();
    assert_eq!(recorded.steps[0].status, StepStatus::Recorded);
    assert!(exchanged.results[0].is_ok());
    assert_eq!(named(&scene.steps(task.execution_id).await), [("a", 0), ("b", 1)]);
    assert_eq!(scene.view(task.execution_id).await.progress.unwrap().pct, Some(50));
}

pub(crate) async fn who_recorded_in_vain_does_not_wait(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.recorded(&task, vec![done("a", "1")]).await;
    let steps = RecordSteps {
        fence: Some(task.fence),
        steps: vec![done("a", "other")],
        progress: None,
    };
    let turn = Exchange {
        steps: vec![On::new(task.execution_id, steps)],
        ..patient()
    };
    let exchanged = promptly(scene.fabric.exchange(turn)).await.unwrap();
    assert_eq!(exchanged.steps[0].as_ref().unwrap_err().code, Code::StepConflict);
}
