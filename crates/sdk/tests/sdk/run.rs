//! What becomes of a run, and what it puts out.

use ff_core::command::claim::Task as Claimed;
use ff_core::command::steps::{RecordSteps, StepReport};
use ff_core::command::stream::AppendFrame;
use ff_core::fabric::On;
use ff_core::frame::FrameMode;
use ff_core::name::{FrameType, StepKey};
use ff_core::state::PublicState;
use ff_sdk::run::{RunFrame, Step};
use ff_sdk::{Error, Fabric, Run, Task, json, secs};
use serde::{Deserialize, Serialize};

use crate::scene::Scene;

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "sum", output = Sum, retries = 2)]
struct Numbers(Vec<u32>);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Sum {
    total: u32,
}

async fn submitted(scene: &Scene) -> Run<Sum> {
    scene.client.submit(Numbers(vec![1, 2])).await.unwrap()
}

#[tokio::test]
async fn the_result_is_waited_for_and_comes_as_its_type() {
    for scene in Scene::each() {
        let run = submitted(&scene).await;
        let waiting = tokio::spawn({
            let run = run.clone();
            async move { run.result().await }
        });
        let task = scene.claim_one().await;
        scene.complete(&task, &Sum { total: 3 }).await;
        assert_eq!(waiting.await.unwrap().unwrap(), Sum { total: 3 });
        let again = scene.client.run::<Numbers>(run.id());
        assert_eq!(again.result().await.unwrap(), Sum { total: 3 }, "by its id, later");
    }
}

#[tokio::test]
async fn a_run_that_fails_says_why_and_after_how_many_attempts() {
    for scene in Scene::each() {
        let run = submitted(&scene).await;
        for _ in 0..3 {
            let task = scene.claim_one().await;
            scene.fail(&task, "transient", "the disk is full").await;
            scene.pass(secs(60)).await;
        }
        let error = run.result().await.unwrap_err();
        let Error::Ended(ended) = &error else { panic!("{error}") };
        assert_eq!((ended.state, ended.attempts), (PublicState::Failed, 3));
        assert_eq!(ended.failure.as_ref().unwrap().reason, "the disk is full");
        assert!(
            error
                .to_string()
                .ends_with("ended as failed after 3 attempts: transient: the disk is full"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_result_of_another_type_names_the_run_and_the_place() {
    for scene in Scene::each() {
        let run = submitted(&scene).await;
        let task = scene.claim_one().await;
        scene.complete(&task, &serde_json::json!({ "total": "three" })).await;
        let error = run.result().await.unwrap_err().to_string();
        assert!(
            error.contains(&run.id().to_string()) && error.contains("at total: invalid type"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_run_that_gives_nothing_has_nothing_as_its_result() {
    #[derive(Serialize, Deserialize, Task)]
    #[task(kind = "quiet")]
    struct Quiet {}

    for scene in Scene::each() {
        let run = scene.client.submit(Quiet {}).await.unwrap();
        let task = scene.claim_one().await;
        let complete = ff_core::command::lease::Complete {
            fence: Some(task.fence),
            result: None,
            steps: Vec::new(),
        };
        scene
            .engine
            .complete(On::new(task.execution_id, complete))
            .await
            .unwrap();
        let () = run.result().await.unwrap();
    }
}

#[tokio::test]
async fn waiting_ends_when_the_time_that_was_given_is_over() {
    let scene = Scene::local();
    let run = submitted(&scene).await;
    tokio::time::pause();
    let error = run.result_within(secs(3_600)).await.unwrap_err();
    assert!(
        matches!(error, Error::NotEnded { execution_id, .. } if execution_id == run.id()),
        "{error}"
    );
}

#[tokio::test]
async fn a_run_that_does_not_exist_is_not_waited_for() {
    for scene in Scene::each() {
        let id = submitted(&scene).await.id();
        let other = ff_core::id::ExecutionId::new(id.partition().index, uuid(7));
        let error = scene.client.run::<Numbers>(other).result().await.unwrap_err();
        assert_eq!(error.code(), Some(ff_core::error::Code::ExecutionNotFound));
    }
}

#[tokio::test]
async fn a_failed_run_is_replayed() {
    for scene in Scene::each() {
        let run = submitted(&scene).await;
        let task = scene.claim_one().await;
        scene.fail(&task, "permanent", "no").await;
        run.replay().await.unwrap();
        let task = scene.claim_one().await;
        scene.complete(&task, &Sum { total: 9 }).await;
        assert_eq!(run.result().await.unwrap(), Sum { total: 9 });
    }
}

#[tokio::test]
async fn what_keeps_a_run_from_a_worker_is_explained() {
    let scene = Scene::local();
    let run = submitted(&scene).await;
    assert_eq!(run.explain().await.unwrap().execution_id, run.id());
}

async fn say(scene: &Scene, task: &Claimed, word: &str) {
    let append = AppendFrame {
        fence: Some(task.fence),
        frame_type: FrameType::parse("token").unwrap(),
        payload: json::write(word).unwrap(),
        mode: FrameMode::Durable,
        correlation_id: None,
        request_id: None,
    };
    scene
        .engine
        .append_frame(On::new(task.execution_id, append))
        .await
        .unwrap();
}

fn told(frame: &RunFrame) -> (u32, String) {
    (frame.attempt, frame.json().unwrap())
}

#[tokio::test]
async fn frames_come_from_every_attempt_and_end_with_the_run() {
    for scene in Scene::each() {
        let run = submitted(&scene).await;
        let mut frames = run.frames().await.unwrap();
        let first = scene.claim_one().await;
        say(&scene, &first, "a").await;
        assert_eq!(told(&frames.next().await.unwrap().unwrap()), (0, "a".to_owned()));
        say(&scene, &first, "b").await;
        let b = frames.next().await.unwrap().unwrap();
        assert_eq!(told(&b), (0, "b".to_owned()));
        scene.fail(&first, "transient", "again").await;
        scene.pass(secs(60)).await;
        let second = scene.claim_one().await;
        say(&scene, &second, "c").await;
        assert_eq!(told(&frames.next().await.unwrap().unwrap()), (1, "c".to_owned()));
        scene.complete(&second, &Sum { total: 1 }).await;
        assert!(frames.next().await.is_none(), "the run is over");
        let mut rest = run.frames().after(0, b.id).await.unwrap();
        assert_eq!(
            told(&rest.next().await.unwrap().unwrap()),
            (1, "c".to_owned()),
            "after one that was seen"
        );
    }
}

#[tokio::test]
async fn frames_of_no_run_are_refused() {
    for scene in Scene::each() {
        let id = ff_core::id::ExecutionId::new(0, uuid(9));
        let refused = scene.client.run::<Numbers>(id).frames().await.err().unwrap();
        assert_eq!(refused.code(), Some(ff_core::error::Code::ExecutionNotFound));
    }
}

/// Records steps, each of which left a number.
async fn record(scene: &Scene, task: &Claimed, steps: &[(&str, u32)]) {
    let report = |(key, output): &(&str, u32)| {
        let output = json::write(output).unwrap();
        StepReport::done(StepKey::parse(key).unwrap(), Some(output))
    };
    let record = RecordSteps {
        fence: Some(task.fence),
        steps: steps.iter().map(report).collect(),
        ..RecordSteps::default()
    };
    scene
        .engine
        .record_steps(On::new(task.execution_id, record))
        .await
        .unwrap();
}

fn keys(steps: &[Step]) -> Vec<&str> {
    steps.iter().map(|step| step.view.key.as_str()).collect()
}

#[tokio::test]
async fn steps_are_read_with_what_they_left() {
    for scene in Scene::each() {
        let run = submitted(&scene).await;
        record(&scene, &scene.claim_one().await, &[("add#0", 1), ("add#1", 3)]).await;
        let steps = run.steps().with_outputs().await.unwrap();
        assert_eq!(keys(&steps), ["add#0", "add#1"]);
        assert_eq!(steps[1].output::<u32>().unwrap(), 3);
        let plain = run.steps().await.unwrap();
        assert!(plain[0].view.output.is_none() && plain[0].view.output_bytes == Some(1));
    }
}

#[tokio::test]
async fn a_replay_keeps_the_steps_it_is_told_to_keep() {
    for scene in Scene::each() {
        let runs: [Run<Sum>; 3] = [
            submitted(&scene).await,
            submitted(&scene).await,
            submitted(&scene).await,
        ];
        for task in scene.claim(&["default"], &[]).await {
            record(&scene, &task, &[("a#0", 1), ("b#0", 2)]).await;
            scene.fail(&task, "permanent", "no").await;
        }
        runs[0].replay().await.unwrap();
        runs[1].replay().before("b#0").await.unwrap();
        runs[2].replay().from_scratch().await.unwrap();
        for (run, kept) in runs.iter().zip([&["a#0", "b#0"][..], &["a#0"], &[]]) {
            assert_eq!(keys(&run.steps().await.unwrap()), kept);
        }
    }
}

fn uuid(number: u128) -> uuid::Uuid {
    uuid::Uuid::from_u128(number)
}
