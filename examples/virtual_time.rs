//! A unit test: two days pass at once, a worker dies, a person decides, and nothing is done twice. Without a server, without waiting.
//!
//! `cargo run --example virtual_time`. In your own crate `run` is a `#[tokio::test]`.

#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use ff_sdk::prelude::*;
use ff_sdk::test::{TestEngine, crash_everywhere};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "publish", output = String)]
struct Publish {
    title: String,
}

impl Publish {
    fn sample() -> Self {
        Self { title: "Crabs".into() }
    }
}

/// What is tested: it waits for a person for up to a week, and then for a night.
async fn publish(Input(job): Input<Publish>, ctx: Ctx) -> Result<String, TaskError> {
    let draft = ctx.step("draft", |_| async { Ok(job.title.to_lowercase()) }).await?;
    let decision = ctx.approval::<()>("review").show(&draft).expires(days(7)).await?;
    if !decision.approved {
        return Err(TaskError::permanent("rejected"));
    }
    ctx.sleep("embargo", hours(12)).await?;
    ctx.step("post", |_| async { Ok(format!("blog/{draft}")) }).await
}

/// The worker dies as soon as the draft is recorded; another one takes over.
async fn a_crash_repeats_nothing() -> ff_sdk::Result<()> {
    let test = TestEngine::new().task(publish).start().await;
    test.crash_after("draft#0");
    let run = test.submit(Publish::sample()).await?;
    test.advance(days(2)).await;
    test.approve(&run, "review").await?;
    test.advance(hours(12)).await;
    assert_eq!(run.result().await?, "blog/crabs");
    assert_eq!(test.calls("draft"), 1);
    Ok(())
}

/// The same story with a crash after each of its steps, one after the other: it must always end the same way.
async fn a_crash_anywhere_changes_nothing() {
    let story = |test: TestEngine| async move {
        let run = test.submit(Publish::sample()).await?;
        test.advance(hours(1)).await;
        test.approve(&run, "review").await?;
        test.advance(days(1)).await;
        run.result().await
    };
    let told = |test| async move { story(test).await.map_err(|error| error.to_string()) };
    let end = crash_everywhere(|| TestEngine::new().task(publish), told).await;
    assert_eq!(end.as_deref(), Ok("blog/crabs"));
}

/// Both tests.
pub async fn run() -> ff_sdk::Result<()> {
    a_crash_repeats_nothing().await?;
    println!("two days and a crash: nothing was done twice");
    a_crash_anywhere_changes_nothing().await;
    println!("a crash after each step: it always ends the same way");
    Ok(())
}

#[tokio::main]
async fn main() -> ff_sdk::Result<()> {
    run().await
}
