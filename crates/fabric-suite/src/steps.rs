//! Steps: what a handler has done, whoever runs it next finds again.

use ff_core::command::claim::Task;
use ff_core::command::steps::{ReadSteps, RecordSteps, RecordedSteps, StepPage, StepReport, StepStatus};
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::limits::{STEP_BYTES_PER_CALL_MAX, STEPS_PER_CALL_MAX};
use ff_core::name::{Category, StepKey};
use ff_core::payload::Payload;
use ff_core::record::{Failure, StepKind, StepState};
use ff_core::time::Duration;
use serde_json::json;

use crate::Harness;
use crate::scene::{SECOND, Scene, WORKER, refused, submission};

fn done(key: &str, output: &str) -> StepReport {
    StepReport {
        key: StepKey::parse(key).unwrap(),
        kind: StepKind::Run,
        state: StepState::Done,
        output: Some(Payload::json(&json!(output))),
        failure: None,
        input_digest: None,
        replaces_seq: None,
        started_at: None,
    }
}

async fn record(scene: &Scene<'_>, task: &Task, steps: Vec<StepReport>) -> Result<RecordedSteps> {
    let command = RecordSteps {
        fence: Some(task.fence),
        steps,
    };
    scene.fabric.record_steps(On::new(task.execution_id, command)).await
}

async fn recorded(scene: &Scene<'_>, task: &Task, steps: Vec<StepReport>) -> Vec<(u64, StepStatus)> {
    let recorded = record(scene, task, steps).await.unwrap();
    recorded.steps.iter().map(|step| (step.seq, step.status)).collect()
}

async fn read(scene: &Scene<'_>, id: ExecutionId, from_seq: u64, limit: usize) -> StepPage {
    let read = ReadSteps {
        from_seq: Some(from_seq),
        limit: Some(limit),
        outputs: true,
    };
    scene.fabric.read_steps(On::new(id, read)).await.unwrap()
}

fn named(page: &StepPage) -> Vec<(&str, u64)> {
    page.items.iter().map(|step| (step.key.as_str(), step.seq)).collect()
}

pub(crate) async fn what_was_recorded_is_read_in_its_order(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let failed = StepReport {
        state: StepState::Failed,
        output: None,
        failure: Some(Failure {
            reason: "no paper".to_owned(),
            category: Category::permanent(),
        }),
        ..done("print#0", "")
    };
    assert_eq!(
        recorded(&scene, &task, vec![done("llm#0", "hi"), failed.clone()]).await,
        [(0, StepStatus::Recorded), (1, StepStatus::Recorded)]
    );
    assert_eq!(
        recorded(&scene, &task, vec![done("a/b[é]", "x")]).await,
        [(2, StepStatus::Recorded)]
    );
    let page = read(&scene, task.execution_id, 0, 50).await;
    assert_eq!(named(&page), [("llm#0", 0), ("print#0", 1), ("a/b[é]", 2)]);
    assert_eq!(page.next, None);
    assert_eq!(page.items[0].output, Some(Payload::json(&json!("hi"))));
    assert_eq!(
        (page.items[1].state, &page.items[1].failure),
        (StepState::Failed, &failed.failure)
    );
    let first = read(&scene, task.execution_id, 0, 2).await;
    assert_eq!((first.items.len(), first.next), (2, Some(2)));
    assert_eq!(named(&read(&scene, task.execution_id, 2, 2).await), [("a/b[é]", 2)]);
    let plain = scene
        .fabric
        .read_steps(On::new(task.execution_id, ReadSteps::default()));
    let plain = plain.await.unwrap();
    assert!(plain.items.iter().all(|step| step.output.is_none()));
    assert_eq!(plain.items[0].output_bytes, Some(4));
}

pub(crate) async fn the_same_step_again_is_known_and_another_under_its_name_is_refused(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    recorded(&scene, &task, vec![done("a", "1"), done("b", "2")]).await;
    assert_eq!(
        recorded(&scene, &task, vec![done("b", "2"), done("c", "3")]).await,
        [(1, StepStatus::Already), (2, StepStatus::Recorded)]
    );
    let refusal = record(&scene, &task, vec![done("d", "4"), done("a", "other")])
        .await
        .unwrap_err();
    assert_eq!(refusal.code, Code::StepConflict);
    assert_eq!(
        (&refusal.fields["key"], &refusal.fields["seq"]),
        (&json!("a"), &json!(0))
    );
    let page = read(&scene, task.execution_id, 0, 50).await;
    assert_eq!(named(&page), [("a", 0), ("b", 1), ("c", 2)], "all of a call or nothing");
}

pub(crate) async fn a_step_is_replaced_by_one_that_names_its_place(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let started = StepReport {
        state: StepState::Started,
        output: None,
        ..done("pay", "")
    };
    recorded(&scene, &task, vec![started, done("b", "2")]).await;
    let replacing = |seq| StepReport {
        replaces_seq: Some(seq),
        ..done("pay", "paid")
    };
    assert_eq!(
        refused(record(&scene, &task, vec![replacing(1)]).await),
        Code::StepConflict
    );
    let unknown = StepReport {
        replaces_seq: Some(0),
        ..done("c", "3")
    };
    assert_eq!(refused(record(&scene, &task, vec![unknown]).await), Code::StepNotFound);
    assert_eq!(
        recorded(&scene, &task, vec![replacing(0)]).await,
        [(2, StepStatus::Recorded)]
    );
    assert_eq!(
        recorded(&scene, &task, vec![replacing(0)]).await,
        [(2, StepStatus::Already)],
        "a repetition is one"
    );
    let page = read(&scene, task.execution_id, 0, 50).await;
    assert_eq!(named(&page), [("b", 1), ("pay", 2)]);
}

pub(crate) async fn steps_outlive_their_lease_and_only_a_live_one_records(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    recorded(&scene, &task, vec![done("a", "1")]).await;
    scene.revoke(task.execution_id).await.unwrap();
    assert_eq!(
        refused(record(&scene, &task, vec![done("b", "2")]).await),
        Code::LeaseRevoked
    );
    let next = scene.claim(WORKER).await;
    assert_eq!(
        recorded(&scene, &next, vec![done("a", "1"), done("b", "2")]).await,
        [(0, StepStatus::Already), (1, StepStatus::Recorded)]
    );
    assert_eq!(
        refused(record(&scene, &task, vec![done("c", "3")]).await),
        Code::StaleLease
    );
    scene.complete(&next).await.unwrap();
    let page = read(&scene, task.execution_id, 0, 50).await;
    assert_eq!(named(&page), [("a", 0), ("b", 1)]);
    assert_eq!(
        page.items.iter().map(|step| step.attempt_index).collect::<Vec<_>>(),
        [0, next.attempt_index]
    );
}

pub(crate) async fn recording_renews_the_lease(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.after(SECOND).await;
    let first = record(&scene, &task, vec![done("a", "1")]).await.unwrap();
    scene.after(SECOND).await;
    let again = record(&scene, &task, vec![done("a", "1")]).await.unwrap();
    assert!(first.expires_at > task.expires_at && again.expires_at > first.expires_at);
}

pub(crate) async fn steps_that_cannot_be_are_refused_and_nothing_is_recorded(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let large = "x".repeat(STEP_BYTES_PER_CALL_MAX / 8);
    let bad = [
        (vec![], Code::InvalidInput),
        (vec![done("a", "1"), done("a", "1")], Code::InvalidInput),
        (
            vec![StepReport {
                kind: StepKind::Wait,
                ..done("a", "1")
            }],
            Code::InvalidInput,
        ),
        (
            vec![StepReport {
                state: StepState::Waiting,
                ..done("a", "1")
            }],
            Code::InvalidInput,
        ),
        (
            vec![StepReport {
                state: StepState::Failed,
                output: None,
                ..done("a", "1")
            }],
            Code::InvalidInput,
        ),
        (
            vec![StepReport {
                state: StepState::Started,
                ..done("a", "1")
            }],
            Code::InvalidInput,
        ),
        (
            (0..=STEPS_PER_CALL_MAX).map(|n| done(&format!("a#{n}"), "1")).collect(),
            Code::BatchTooLarge,
        ),
        (
            (0..9).map(|n| done(&format!("a#{n}"), &large)).collect(),
            Code::PayloadTooLarge,
        ),
    ];
    for (steps, code) in bad {
        assert_eq!(refused(record(&scene, &task, steps).await), code);
    }
    let unfenced = RecordSteps {
        fence: None,
        steps: vec![done("a", "1")],
    };
    let refusal = scene.fabric.record_steps(On::new(task.execution_id, unfenced)).await;
    assert_eq!(refused(refusal), Code::FenceRequired);
    assert!(read(&scene, task.execution_id, 0, 50).await.items.is_empty());
}

pub(crate) async fn steps_go_with_their_execution(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    for part in 0..3 {
        let steps = (0..STEPS_PER_CALL_MAX).map(|n| done(&format!("p{part}#{n}"), "1"));
        recorded(&scene, &task, steps.collect()).await;
    }
    scene.complete(&task).await.unwrap();
    scene.after(Duration::from_hours(25)).await;
    let gone = scene
        .fabric
        .read_steps(On::new(task.execution_id, ReadSteps::default()))
        .await;
    assert_eq!(refused(gone), Code::ExecutionNotFound);
}
