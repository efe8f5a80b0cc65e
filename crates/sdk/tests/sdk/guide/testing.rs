//! Draining, replaying, testing, embedding.

use std::error::Error;

use ff_sdk::Drain;
use ff_sdk::prelude::*;
use ff_sdk::test::{TestEngine, crash_everywhere};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "remind", output = String)]
struct Remind {
    who: String,
}

impl Remind {
    fn sample() -> Self {
        Self { who: "Ana".to_owned() }
    }
}

async fn remind(Input(job): Input<Remind>, ctx: Ctx) -> Result<String, TaskError> {
    let text = ctx.step("write", |_| async { Ok(format!("dear {}", job.who)) }).await?;
    ctx.sleep("later", days(2)).await?;
    ctx.step("send", |_| async { Ok(text) }).await
}

fn worker(ff: Client) -> Result<Worker, Box<dyn Error>> {
    Ok(Worker::new(ff).task(remind).drain(Drain::AT_STEP).build()?)
}

// [guide]
#[tokio::test]
async fn a_reminder_is_written_once_and_sent_two_days_later() -> ff_sdk::Result<()> {
    let test = TestEngine::new().task(remind).start().await;
    test.crash_after("write#0");
    let run = test.submit(Remind::sample()).await?;
    test.advance(days(2)).await;
    assert_eq!(run.result().await?, "dear Ana");
    assert_eq!(test.calls("write"), 1);
    Ok(())
}
// [end]

// [guide]
#[tokio::test]
async fn answers_that_get_lost_change_nothing() -> ff_sdk::Result<()> {
    let test = TestEngine::new().task(remind).start().await;
    test.mock_step("write", || "dear Ben");
    test.drop_replies(0.3);
    let run = test.submit(Remind::sample()).await?;
    test.advance(days(2)).await;
    assert_eq!(run.result().await?, "dear Ben");
    Ok(())
}
// [end]

// [guide]
#[tokio::test]
async fn a_crash_after_any_step_changes_nothing() {
    let told = async |test: TestEngine| {
        let run = test.submit(Remind::sample()).await.unwrap();
        test.advance(days(2)).await;
        run.result().await.unwrap()
    };
    let text = crash_everywhere(|| TestEngine::new().task(remind), told).await;
    assert_eq!(text, "dear Ana");
}
// [end]

#[tokio::test]
async fn an_engine_lives_in_the_program_and_a_run_can_be_replayed() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let store = format!("sqlite:{}", folder.path().join("app.db").display());
    let store = store.as_str();
    // [guide]
    let engine = ff_sdk::embedded::open(store).await?; // "sqlite:app.db"
    let ff = Client::local(engine.clone());
    // [end]
    let run = ff.submit(Remind::sample()).await?;
    run.cancel("tried out").await?;
    run.replay().await?;
    let worker = worker(ff)?;
    worker.run_until(std::future::ready(())).await?;
    engine.stop().await;
    Ok(())
}
