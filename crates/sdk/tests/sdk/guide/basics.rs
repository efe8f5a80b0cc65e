//! Tasks, submitting, results, workers, handlers.

#![expect(clippy::print_stdout, reason = "the guide shows what programs print")]

use std::error::Error as StdError;

// [guide]
use ff_sdk::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "summarize", output = Summary, lane = "web", retries = 5, attempt_timeout = "90s")]
struct Summarize {
    url: String,
}

#[derive(Serialize, Deserialize)]
struct Summary {
    text: String,
}
// [end]

#[derive(Clone, Default)]
struct Http;

impl Http {
    async fn get(&self, url: &str) -> Result<String, std::io::Error> {
        match url.starts_with("https://") {
            true => Ok(format!("The page {url}.")),
            false => Err(std::io::Error::other("no route to host")),
        }
    }
}

async fn submitting(ff: Client) -> Result<(), Box<dyn StdError>> {
    let url = "https://example.org".to_owned();
    // [guide]
    let run = ff
        .submit(Summarize { url })
        .idempotency_key("order-42")
        .priority(100)
        .tag("tenant", "a")
        .deadline(hours(2))
        .await?;
    println!("{} is {}", run.id(), run.state().await?);
    // [end]
    let kept = run.id();
    // [guide]
    let run = ff.run::<Summarize>(kept);
    match run.result().await {
        Ok(summary) => println!("{}", summary.text),
        Err(ff_sdk::Error::Ended(ended)) => println!("{} after {} attempts", ended.state, ended.attempts),
        Err(error) => return Err(error.into()),
    }
    // [end]
    let pages = ["https://example.org/a", "https://example.org/b"].map(str::to_owned);
    let runs = ff.submit_all(pages.map(|url| Summarize { url })).await?;
    for run in runs {
        println!("{}", run?.result().await?.text);
    }
    Ok(())
}

// [guide]
async fn summarize(Input(job): Input<Summarize>, State(http): State<Http>, ctx: Ctx) -> Result<Summary, TaskError> {
    let page = ctx.step("fetch", |_| async { Ok(http.get(&job.url).await?) }).await?;
    Ok(Summary { text: page })
}
// [end]

async fn work(ff: Client, stop: impl Future<Output = ()>) -> Result<(), Box<dyn StdError>> {
    // [guide]
    let worker = Worker::new(ff).state(Http).task(summarize).build()?;
    worker.run_until(stop).await?;
    // [end]
    Ok(())
}

#[tokio::test]
async fn what_is_submitted_is_worked_on() {
    let engine = ff_sdk::embedded::open("memory:").await.unwrap();
    let ff = Client::local(engine.clone());
    let (done, stop) = tokio::sync::oneshot::channel::<()>();
    let submitted = async {
        submitting(ff.clone()).await.unwrap();
        drop(done);
    };
    let until = async {
        let _ = stop.await;
    };
    let ((), worked) = tokio::join!(submitted, work(ff.clone(), until));
    worked.unwrap();
    engine.stop().await;
}
