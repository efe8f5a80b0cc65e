//! Flows and children.

use ff_sdk::prelude::*;
use ff_sdk::test::TestEngine;
use futures::future::try_join_all;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "fetch", output = String)]
struct Fetch {
    url: String,
}

// [guide]
#[derive(Serialize, Deserialize, Task)]
#[task(kind = "merge", output = String, inputs = MergeInputs)]
struct Merge {}

#[derive(FromInputs)]
struct MergeInputs {
    pages: Vec<String>,
    style: Option<String>,
}

async fn merge(_: Input<Merge>, Inputs(up): Inputs<Merge>) -> String {
    up.pages.join(&up.style.unwrap_or_else(|| " ".to_owned()))
}
// [end]

async fn fetch(Input(job): Input<Fetch>) -> String {
    job.url
}

async fn submit(ff: &Client, urls: [&str; 3]) -> ff_sdk::Result<Run<String>> {
    // [guide]
    let mut flow = Flow::new("report").tag("tenant", "a");
    let pages = urls.map(|url| flow.add(Fetch { url: url.to_owned() }).retries(3));
    let merged = flow.add(Merge {}).collect("pages", &pages).join(Quorum(2));
    let run = ff.submit_flow(flow).await?.run(&merged)?;
    // [end]
    Ok(run)
}

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "survey", output = usize)]
struct Survey {
    urls: Vec<String>,
}

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "archive")]
struct Archive {
    letters: usize,
}

// [guide]
async fn survey(Input(job): Input<Survey>, ctx: Ctx) -> Result<usize, TaskError> {
    let fetch = |url: &String| ctx.spawn("fetch", Fetch { url: url.clone() }).retries(3);
    let pages = try_join_all(job.urls.iter().map(|url| fetch(url).into_future())).await?;
    let mut letters = 0;
    for page in &pages {
        letters += page.result().await?.len();
    }
    ctx.submit("archive", Archive { letters }).await?;
    Ok(letters)
}
// [end]

async fn archive(Input(job): Input<Archive>) {
    assert_eq!(job.letters, 6);
}

#[tokio::test]
async fn a_survey_counts_what_its_children_fetch() {
    let builder = TestEngine::new().task(survey).task(fetch).task(archive);
    let test = builder.start().await;
    let urls = ["a", "bb", "ccc"].map(str::to_owned).to_vec();
    let run = test.submit(Survey { urls }).await.unwrap();
    assert_eq!(run.result().await.unwrap(), 6);
    test.quiet().await;
}

#[tokio::test]
async fn a_flow_goes_on_with_as_many_as_it_needs() {
    let test = TestEngine::new().task(fetch).task(merge).start().await;
    let run = submit(test.client(), ["a", "b", "c"]).await.unwrap();
    let merged = run.result().await.unwrap();
    assert!(merged.split(' ').count() >= 2, "{merged}");
}
