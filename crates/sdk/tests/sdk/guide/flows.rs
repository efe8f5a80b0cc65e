//! Flows.

use ff_sdk::prelude::*;
use ff_sdk::test::TestEngine;
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

#[tokio::test]
async fn a_flow_goes_on_with_as_many_as_it_needs() {
    let test = TestEngine::new().task(fetch).task(merge).start().await;
    let run = submit(test.client(), ["a", "b", "c"]).await.unwrap();
    let merged = run.result().await.unwrap();
    assert!(merged.split(' ').count() >= 2, "{merged}");
}
