//! Submitting tasks.

use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::state::PublicState;
use ff_core::view::ListExecutions;
use ff_sdk::{Error, Fabric, Submission, Task, mins, secs, tier};
use serde::{Deserialize, Serialize};

use crate::scene::Scene;

#[derive(Clone, Serialize, Deserialize, Task)]
#[task(kind = "resize", output = String, lane = "images", retries = 5, attempt_timeout = "90s", capabilities = ["gpu"])]
struct Resize {
    image: String,
}

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "plain", output = u32)]
struct Plain {
    number: u32,
}

fn cat() -> Resize {
    Resize {
        image: "cat".to_owned(),
    }
}

#[tokio::test]
async fn a_worker_is_handed_the_task_as_it_was_written() {
    for scene in Scene::each() {
        let run = scene.client.submit(cat()).await.unwrap();
        assert!(
            scene.claim(&["default"], &[]).await.is_empty(),
            "its lane is another one"
        );
        assert!(scene.claim(&["images"], &[]).await.is_empty(), "it wants a GPU");
        let task = scene.claim(&["images"], &["gpu"]).await.remove(0);
        assert_eq!((task.execution_id, task.execution_kind.as_str()), (run.id(), "resize"));
        assert_eq!(task.input.bytes, r#"{"image":"cat"}"#.as_bytes());
        assert_eq!(task.input.content_type.as_str(), "application/json");
    }
}

#[tokio::test]
async fn what_the_call_says_stands_over_what_the_task_says() {
    for scene in Scene::each() {
        let submit = scene
            .client
            .submit(cat())
            .lane("other")
            .retries(0)
            .priority(7)
            .tag("tenant", "a");
        let run = submit.tiers([tier("openai", "big", secs(60))]).await.unwrap();
        let view = run.view().await.unwrap();
        assert_eq!(
            (view.lane_id.as_str(), view.priority, view.tags["tenant"].as_str()),
            ("other", 7, "a")
        );
        let task = scene.claim(&["other"], &["gpu"]).await.remove(0);
        assert_eq!(task.tier.as_ref().unwrap().provider, "openai");
        scene.fail(&task, "transient", "no").await;
        assert_eq!(run.state().await.unwrap(), PublicState::Failed, "it is not tried again");
    }
}

#[tokio::test]
async fn a_delay_is_counted_on_the_clock_of_the_store() {
    let scene = Scene::local();
    let run = scene.client.submit(Plain { number: 1 }).delay(mins(5)).await.unwrap();
    assert_eq!(run.state().await.unwrap(), PublicState::Delayed);
    scene.pass(mins(4)).await;
    assert!(scene.claim(&["default"], &[]).await.is_empty());
    scene.pass(mins(1)).await;
    assert_eq!(scene.claim_one().await.execution_id, run.id());
}

#[tokio::test]
async fn a_delay_far_away_is_counted_on_the_clock_of_its_server() {
    let scene = Scene::served();
    let run = scene.client.submit(Plain { number: 1 }).delay(mins(5)).await.unwrap();
    let until = run.view().await.unwrap().delay_until.unwrap();
    let waits = until.since(crate::scene::START).as_millis();
    // The time of this machine goes on between the two looks at it, however short they are.
    assert!((300_000..360_000).contains(&waits), "{waits}");
}

#[tokio::test]
async fn what_waits_too_long_expires() {
    let scene = Scene::local();
    let run = scene
        .client
        .submit(Plain { number: 1 })
        .deadline(mins(2))
        .await
        .unwrap();
    scene.pass(mins(2)).await;
    let Err(Error::Ended(ended)) = run.result().await else {
        panic!("it has expired")
    };
    assert_eq!((ended.state, ended.attempts), (PublicState::Expired, 0));
}

#[tokio::test]
async fn a_repetition_under_the_same_key_is_the_first_submission() {
    for scene in Scene::each() {
        let one = scene.client.submit(cat()).idempotency_key("cat").await.unwrap();
        let again = scene.client.submit(cat()).idempotency_key("cat").await.unwrap();
        assert_eq!(one.id(), again.id());
        let plain = scene.client.submit(cat()).await.unwrap();
        assert_ne!(plain.id(), one.id(), "without a key it is another one");
    }
}

#[tokio::test]
async fn the_same_key_for_something_else_is_an_error_unless_it_is_accepted() {
    for scene in Scene::each() {
        let first = scene
            .client
            .submit(Plain { number: 1 })
            .idempotency_key("k")
            .await
            .unwrap();
        let other = || scene.client.submit(Plain { number: 2 }).idempotency_key("k");
        let error = other().await.unwrap_err();
        assert!(
            matches!(&error, Error::ContentDiffers { execution_id, .. } if *execution_id == first.id()),
            "{error}"
        );
        assert!(error.to_string().contains("\"k\""), "{error}");
        assert_eq!(other().accept_other_content().await.unwrap().id(), first.id());
    }
}

#[tokio::test]
async fn everything_that_is_wrong_is_told_at_once_and_nothing_is_sent() {
    let scene = Scene::local();
    let submit = scene
        .client
        .submit(cat())
        .lane("two words")
        .idempotency_key("")
        .delay(secs(1));
    let error = submit.delay_until(std::time::SystemTime::now()).await.unwrap_err();
    let Error::Invalid { problems, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(problems.len(), 3, "{error}");
    let there = scene.client.list_executions(ListExecutions::default()).await.unwrap();
    assert!(there.items.is_empty());
}

#[tokio::test]
async fn a_submission_can_be_given_its_id() {
    for scene in Scene::each() {
        let first = scene.client.submit(cat()).await.unwrap();
        let again = scene.client.submit(cat()).execution_id(first.id()).await.unwrap();
        assert_eq!(again.id(), first.id());
    }
}

#[tokio::test]
async fn many_are_submitted_in_their_order_with_an_answer_for_each() {
    for scene in Scene::each() {
        let jobs = (0..1_203).map(|number| {
            let job = Submission::new(Plain { number });
            if number == 700 {
                job.priority(9_999)
            } else {
                job.tag("number", number.to_string())
            }
        });
        let runs = scene.client.submit_all(jobs).await.unwrap();
        assert_eq!(runs.len(), 1_203);
        assert_eq!(runs[700].as_ref().unwrap_err().code(), Some(Code::InvalidInput));
        for number in [0, 699, 701, 1_202] {
            let view = runs[number].as_ref().unwrap().view().await.unwrap();
            assert_eq!(view.tags["number"], number.to_string());
        }
    }
}

#[tokio::test]
async fn tasks_alone_are_submitted_as_they_are() {
    let scene = Scene::local();
    let runs = scene.client.submit_all([cat(), cat()]).await.unwrap();
    assert_eq!(runs.iter().filter(|run| run.is_ok()).count(), 2);
    assert_eq!(scene.claim(&["images"], &["gpu"]).await.len(), 2);
}

#[tokio::test]
async fn a_run_far_away_is_cancelled_with_a_reason() {
    for scene in Scene::each() {
        let run = scene.client.submit(cat()).await.unwrap();
        run.cancel("nobody wants it").await.unwrap();
        let error = run.result().await.unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("ended as cancelled after 0 attempts: nobody wants it"),
            "{error}"
        );
        let again = scene.client.get_execution(run.id()).await.unwrap();
        assert_eq!(again.state.public_state, PublicState::Cancelled);
        scene
            .client
            .cancel_execution(On::new(
                run.id(),
                ff_core::command::operator::CancelExecution {
                    reason: "again".to_owned(),
                    fence: None,
                },
            ))
            .await
            .unwrap();
    }
}
