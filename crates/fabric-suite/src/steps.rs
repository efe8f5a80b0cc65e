//! Steps: what a handler has done, whoever runs it next finds again.

use ff_core::command::steps::{GetStepOutput, ReadSteps, RecordSteps, StepReport, StepStatus};
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::limits::{STEP_BYTES_PER_CALL_MAX, STEPS_DEFAULT, STEPS_PER_CALL_MAX};
use ff_core::name::Category;
use ff_core::payload::Payload;
use ff_core::record::{Failure, StepKind, StepState};
use ff_core::time::Duration;
use serde_json::json;

use crate::Harness;
use crate::scene::{SECOND, Scene, WORKER, brought, done, named, refused, submission};

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
        scene.recorded(&task, vec![done("llm#0", "hi"), failed.clone()]).await,
        [(0, StepStatus::Recorded), (1, StepStatus::Recorded)]
    );
    assert_eq!(
        scene.recorded(&task, vec![done("a/b[é]", "x")]).await,
        [(2, StepStatus::Recorded)]
    );
    let page = scene.steps_from(task.execution_id, 0, 50).await;
    assert_eq!(named(&page.items), [("llm#0", 0), ("print#0", 1), ("a/b[é]", 2)]);
    assert_eq!(page.next, None);
    assert_eq!(page.items[0].output, Some(Payload::json(&json!("hi"))));
    assert_eq!(
        (page.items[1].state, &page.items[1].failure),
        (StepState::Failed, &failed.failure)
    );
    let first = scene.steps_from(task.execution_id, 0, 2).await;
    assert_eq!((first.items.len(), first.next), (2, Some(2)));
    assert_eq!(
        named(&scene.steps_from(task.execution_id, 2, 2).await.items),
        [("a/b[é]", 2)]
    );
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
    scene.recorded(&task, vec![done("a", "1"), done("b", "2")]).await;
    assert_eq!(
        scene.recorded(&task, vec![done("b", "2"), done("c", "3")]).await,
        [(1, StepStatus::Already), (2, StepStatus::Recorded)]
    );
    let refusal = scene
        .record(&task, vec![done("d", "4"), done("a", "other")])
        .await
        .unwrap_err();
    assert_eq!(refusal.code, Code::StepConflict);
    assert_eq!(
        (&refusal.fields["key"], &refusal.fields["seq"]),
        (&json!("a"), &json!(0))
    );
    let page = scene.steps_from(task.execution_id, 0, 50).await;
    assert_eq!(
        named(&page.items),
        [("a", 0), ("b", 1), ("c", 2)],
        "all of a call or nothing"
    );
}

pub(crate) async fn a_step_is_replaced_by_one_that_names_its_place(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let started = StepReport {
        state: StepState::Started,
        output: None,
        ..done("pay", "")
    };
    scene.recorded(&task, vec![started, done("b", "2")]).await;
    let replacing = |seq| StepReport {
        replaces_seq: Some(seq),
        ..done("pay", "paid")
    };
    assert_eq!(
        refused(scene.record(&task, vec![replacing(1)]).await),
        Code::StepConflict
    );
    let unknown = StepReport {
        replaces_seq: Some(0),
        ..done("c", "3")
    };
    assert_eq!(refused(scene.record(&task, vec![unknown]).await), Code::StepNotFound);
    assert_eq!(
        scene.recorded(&task, vec![replacing(0)]).await,
        [(2, StepStatus::Recorded)]
    );
    assert_eq!(
        scene.recorded(&task, vec![replacing(0)]).await,
        [(2, StepStatus::Already)],
        "a repetition is one"
    );
    let page = scene.steps_from(task.execution_id, 0, 50).await;
    assert_eq!(named(&page.items), [("b", 1), ("pay", 2)]);
}

pub(crate) async fn steps_outlive_their_lease_and_only_a_live_one_records(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.recorded(&task, vec![done("a", "1")]).await;
    scene.revoke(task.execution_id).await.unwrap();
    assert_eq!(
        refused(scene.record(&task, vec![done("b", "2")]).await),
        Code::LeaseRevoked
    );
    let next = scene.claim(WORKER).await;
    assert_eq!(named(brought(&next)), [("a", 0)]);
    assert_eq!(
        scene.recorded(&next, vec![done("a", "1"), done("b", "2")]).await,
        [(0, StepStatus::Already), (1, StepStatus::Recorded)]
    );
    assert!(scene.record(&task, vec![done("c", "3")]).await.is_err());
    scene.complete(&next).await.unwrap();
    let page = scene.steps_from(task.execution_id, 0, 50).await;
    assert_eq!(named(&page.items), [("a", 0), ("b", 1)]);
    assert_eq!(
        page.items.iter().map(|step| step.attempt_index).collect::<Vec<_>>(),
        [0, next.attempt_index]
    );
}

pub(crate) async fn recording_renews_the_lease(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.after(SECOND).await;
    let first = scene.record(&task, vec![done("a", "1")]).await.unwrap();
    scene.after(SECOND).await;
    let again = scene.record(&task, vec![done("a", "1")]).await.unwrap();
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
        assert_eq!(refused(scene.record(&task, steps).await), code);
    }
    let unfenced = RecordSteps {
        fence: None,
        steps: vec![done("a", "1")],
        progress: None,
    };
    let refusal = scene.fabric.record_steps(On::new(task.execution_id, unfenced)).await;
    assert_eq!(refused(refusal), Code::FenceRequired);
    assert!(scene.steps_from(task.execution_id, 0, 50).await.items.is_empty());
}

pub(crate) async fn steps_go_with_their_execution(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    for part in 0..3 {
        let steps = (0..STEPS_PER_CALL_MAX).map(|n| done(&format!("p{part}#{n}"), "1"));
        scene.recorded(&task, steps.collect()).await;
    }
    scene.complete(&task).await.unwrap();
    scene.after(Duration::from_hours(25)).await;
    let gone = scene
        .fabric
        .read_steps(On::new(task.execution_id, ReadSteps::default()))
        .await;
    assert_eq!(refused(gone), Code::ExecutionNotFound);
}

pub(crate) async fn a_task_brings_what_was_done_and_says_where_the_rest_is(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    assert_eq!(task.journal, None, "nothing was recorded");
    let large = "x".repeat(300 * 1024);
    scene.recorded(&task, vec![done("a", "1"), done("b", &large)]).await;
    scene.recorded(&task, vec![done("c", &large), done("d", "4")]).await;
    scene.release(&task).await.unwrap();
    let next = scene.claim(WORKER).await;
    let journal = next.journal.as_ref().unwrap();
    assert_eq!((journal.count, journal.bytes), (4, 2 * (300 * 1024 + 2) + 6));
    assert_eq!(named(brought(&next)), [("a", 0), ("b", 1)]);
    assert_eq!(brought(&next)[0].output, Some(Payload::json(&json!("1"))));
    assert_eq!(journal.next, Some(2));
    let rest = scene.holding(&next).await.steps_from(next.execution_id, 2, 50).await;
    assert_eq!((named(&rest.items), rest.next), (vec![("c", 2), ("d", 3)], None));
}

pub(crate) async fn what_one_step_left_is_read_by_its_place(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let bytes = StepReport {
        output: Some(Payload::binary(&[0, 255, 1][..])),
        ..done("b", "")
    };
    let nothing = StepReport {
        output: None,
        ..done("c", "")
    };
    scene
        .recorded(&task, vec![done("a", "1"), bytes.clone(), nothing])
        .await;
    let output = |seq| {
        let get = On::new(task.execution_id, GetStepOutput { seq });
        scene.fabric.get_step_output(get)
    };
    assert_eq!(output(1).await.ok(), bytes.output);
    for seq in [2, 3] {
        assert_eq!(refused(output(seq).await), Code::StepNotFound);
    }
}

pub(crate) async fn an_execution_remembers_10_000_steps(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.held(submission()).await;
    let calls = STEPS_DEFAULT / STEPS_PER_CALL_MAX as u64;
    for call in 0..calls {
        let steps = (0..STEPS_PER_CALL_MAX).map(|n| StepReport {
            output: None,
            ..done(&format!("{call}#{n}"), "")
        });
        scene.recorded(&task, steps.collect()).await;
    }
    let refusal = scene.record(&task, vec![done("more", "1")]).await.unwrap_err();
    assert_eq!(refusal.code, Code::StepLimitExceeded);
    assert_eq!(refusal.fields["steps_left"], json!(0));
    scene.release(&task).await.unwrap();
    let next = scene.claim(WORKER).await;
    let journal = next.journal.unwrap();
    assert_eq!(
        (journal.count, journal.steps.len() as u64),
        (STEPS_DEFAULT, journal.next.unwrap())
    );
}
