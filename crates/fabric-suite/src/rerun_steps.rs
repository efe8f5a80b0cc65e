//! Replays from any step.

use ff_core::command::steps::{KeepSteps, ReadSteps, StepReport, StepStatus};
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::id::ExecutionId;
use ff_core::name::Category;
use ff_core::record::{Failure, StepState};

use crate::Harness;
use crate::scene::{Scene, WORKER, brought, done, named, refused, step_key, submission};

fn failed(key: &str) -> StepReport {
    StepReport {
        state: StepState::Failed,
        output: None,
        failure: Some(Failure {
            reason: "broken".to_owned(),
            category: Category::permanent(),
        }),
        ..done(key, "")
    }
}

pub(crate) async fn a_replay_of_a_failure_keeps_what_was_done(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene
        .recorded(&task, vec![done("a", "1"), failed("b"), done("c", "3")])
        .await;
    scene.fail(&task, "permanent").await.unwrap();
    scene.replay(task.execution_id).await.unwrap();
    let next = scene.claim(WORKER).await;
    assert_eq!(named(brought(&next)), [("a", 0), ("c", 2)], "what failed runs again");
    let journal = next.journal.as_ref().unwrap();
    assert_eq!((journal.count, journal.bytes), (2, 6));
    assert_eq!(
        scene.recorded(&next, vec![done("b", "2")]).await,
        [(3, StepStatus::Recorded)]
    );
    assert_eq!(
        named(&scene.steps(task.execution_id).await),
        [("a", 0), ("c", 2), ("b", 3)]
    );
}

pub(crate) async fn a_replay_of_a_success_does_everything_again(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.recorded(&task, vec![done("a", "1")]).await;
    scene.complete(&task).await.unwrap();
    scene.replay(task.execution_id).await.unwrap();
    let next = scene.claim(WORKER).await;
    assert_eq!(next.journal, None);
    assert_eq!(
        scene.recorded(&next, vec![done("a", "other")]).await,
        [(1, StepStatus::Recorded)]
    );
    scene.complete(&next).await.unwrap();
    scene.replay_keeping(task.execution_id, KeepSteps::Done).await.unwrap();
    let last = scene.claim(WORKER).await;
    assert_eq!(named(brought(&last)), [("a", 1)]);
}

pub(crate) async fn a_replay_goes_on_from_any_step(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene
        .recorded(&task, vec![done("a", "1"), failed("b"), done("c", "3"), done("d", "4")])
        .await;
    scene.complete(&task).await.unwrap();
    let nowhere = KeepSteps::Before(step_key("x"));
    let refusal = scene.replay_keeping(task.execution_id, nowhere).await;
    assert_eq!(refused(refusal), Code::StepNotFound);
    let from_c = KeepSteps::Before(step_key("c"));
    scene.replay_keeping(task.execution_id, from_c.clone()).await.unwrap();
    let next = scene.claim(WORKER).await;
    assert_eq!(named(brought(&next)), [("a", 0)]);
    scene.recorded(&next, vec![done("b", "2"), done("c", "new")]).await;
    scene.complete(&next).await.unwrap();
    let forgotten = KeepSteps::Before(step_key("d"));
    let refusal = scene.replay_keeping(task.execution_id, forgotten).await;
    assert_eq!(refused(refusal), Code::StepNotFound, "it was forgotten");
    scene.replay_keeping(task.execution_id, from_c).await.unwrap();
    let last = scene.claim(WORKER).await;
    assert_eq!(named(brought(&last)), [("a", 0), ("b", 4)]);
}

pub(crate) async fn what_a_replay_has_forgotten_is_shown_to_who_asks(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let id = task.execution_id;
    scene
        .recorded(&task, vec![done("a", "1"), failed("b"), done("c", "3")])
        .await;
    scene.fail(&task, "permanent").await.unwrap();
    let nothing_forgotten = [("a", 0, false), ("b", 1, false), ("c", 2, false)];
    assert_eq!(with_forgotten(&scene, id).await, owned(&nothing_forgotten));
    scene.replay(id).await.unwrap();
    assert_eq!(named(&scene.steps(id).await), [("a", 0), ("c", 2)]);
    let forgotten = [("a", 0, false), ("b", 1, true), ("c", 2, false)];
    assert_eq!(with_forgotten(&scene, id).await, owned(&forgotten));
    let next = scene.claim(WORKER).await;
    scene.recorded(&next, vec![done("b", "2")]).await;
    let replaced = [("a", 0, false), ("c", 2, false), ("b", 3, false)];
    assert_eq!(
        with_forgotten(&scene, id).await,
        owned(&replaced),
        "its name is taken again"
    );
}

fn owned(steps: &[(&str, u64, bool)]) -> Vec<(String, u64, bool)> {
    let owned = steps
        .iter()
        .map(|(key, seq, forgotten)| ((*key).to_owned(), *seq, *forgotten));
    owned.collect()
}

async fn with_forgotten(scene: &Scene<'_>, id: ExecutionId) -> Vec<(String, u64, bool)> {
    let read = ReadSteps {
        forgotten: true,
        ..ReadSteps::default()
    };
    let steps = scene.fabric.read_steps(On::new(id, read)).await.unwrap().items;
    let shown = steps
        .into_iter()
        .map(|step| (step.key.to_string(), step.seq, step.forgotten));
    shown.collect()
}
