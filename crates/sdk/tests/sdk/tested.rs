//! Tests with virtual time and crashes, as people write them.

use std::time::Duration;

use ff_core::state::PublicState;
use ff_sdk::test::{TestEngine, crash_everywhere};
use ff_sdk::{Ctx, Input, Task, TaskError, days, hours};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "publish", output = String)]
struct Publish {
    title: String,
}

impl Publish {
    fn sample() -> Self {
        Self {
            title: "Hello".to_owned(),
        }
    }
}

async fn publish(Input(job): Input<Publish>, ctx: Ctx) -> Result<String, TaskError> {
    let draft = ctx.step("draft", |_| async { Ok(job.title.to_lowercase()) }).await?;
    ctx.sleep("cool", Duration::from_secs(1)).await?;
    let decision = ctx.approval::<()>("review").show(&draft).expires(days(7)).await?;
    ctx.sleep("embargo", days(1)).await?;
    match decision.approved {
        true => {
            let by = decision.by;
            ctx.step("post", |_| async { Ok(format!("blog/{draft} by {by}")) })
                .await
        }
        false => Ok(decision.reason.unwrap_or_default()),
    }
}

#[tokio::test]
async fn a_crash_repeats_nothing_and_two_days_pass_at_once() {
    let test = TestEngine::new().task(publish).start().await;
    test.crash_after("draft#0");
    let run = test.submit(Publish::sample()).await.unwrap();
    test.advance(days(2)).await;
    assert_eq!(run.state().await.unwrap(), PublicState::Suspended);
    test.approve(&run, "review").by("ana").await.unwrap();
    test.advance(hours(25)).await;
    assert_eq!(run.result().await.unwrap(), "blog/hello by ana");
    assert_eq!((test.calls("draft"), test.calls("post#0")), (1, 1));
}

#[tokio::test]
async fn time_jumps_from_one_due_thing_to_the_next() {
    let test = TestEngine::new().task(publish).start().await;
    let run = test.submit(Publish::sample()).await.unwrap();
    let begin = test.now();
    test.advance(days(9)).await;
    assert_eq!(run.result().await.unwrap(), "nobody decided in time");
    assert_eq!(test.now(), begin + ff_core::time::Duration::from_hours(9 * 24));
}

#[tokio::test]
async fn steps_can_be_given_instead_of_run() {
    let test = TestEngine::new().task(publish).start().await;
    test.mock_step("draft", || "mocked".to_owned());
    let run = test.submit(Publish::sample()).await.unwrap();
    test.advance(Duration::from_secs(2)).await;
    test.approve(&run, "review").await.unwrap();
    test.advance(days(1)).await;
    assert_eq!(run.result().await.unwrap(), "blog/mocked by anonymous");
}

#[tokio::test]
async fn a_crash_after_any_step_changes_nothing() {
    let came = crash_everywhere(
        || TestEngine::new().task(publish),
        |test| async move {
            let run = test.submit(Publish::sample()).await.unwrap();
            test.advance(hours(1)).await;
            test.approve(&run, "review").await.unwrap();
            test.advance(days(2)).await;
            run.result().await.unwrap()
        },
    );
    assert_eq!(came.await, "blog/hello by anonymous");
}

#[tokio::test]
#[should_panic(expected = "time cannot pass")]
async fn a_handler_that_never_ends_is_named() {
    async fn stuck(_: Input<Publish>) -> String {
        std::future::pending().await
    }
    let test = TestEngine::new().task(stuck).start().await;
    test.submit(Publish::sample()).await.unwrap();
    test.advance(days(1)).await;
}
