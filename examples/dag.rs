//! A flow: pages are fetched side by side, merged when all are there, and rendered. Results are handed on by name.
//!
//! `cargo run --example dag` runs an engine inside this process; with `FF_URL=http://127.0.0.1:7117` it talks to a server.

#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;

use ff_sdk::embedded;
use ff_sdk::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "fetch", output = Page, retries = 3)]
struct Fetch {
    url: String,
}

#[derive(Serialize, Deserialize)]
struct Page {
    words: usize,
}

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "merge", output = usize, inputs = MergeInputs)]
struct Merge {}

/// What `merge` is handed: a `Vec` collects all that was added under its name.
#[derive(FromInputs)]
struct MergeInputs {
    pages: Vec<Page>,
}

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "render", output = String, inputs = RenderInputs)]
struct Render {
    title: String,
}

#[derive(FromInputs)]
struct RenderInputs {
    words: usize,
}

/// Instead of the network: a page has as many words as its address has letters.
async fn fetch(Input(job): Input<Fetch>) -> Page {
    println!("fetching {}", job.url);
    Page { words: job.url.len() }
}

async fn merge(_: Input<Merge>, Inputs(up): Inputs<Merge>) -> usize {
    up.pages.iter().map(|page| page.words).sum()
}

async fn render(Input(job): Input<Render>, Inputs(up): Inputs<Render>) -> String {
    format!("{}: {} words", job.title, up.words)
}

/// Submits the flow in one call (nothing runs before all of it is there) and waits for its last member.
pub async fn run(ff: Client) -> Result<String, Box<dyn Error>> {
    let worker = Worker::new(ff.clone()).task(fetch).task(merge).task(render).build()?;

    let mut flow = Flow::new("report");
    let urls = ["example.org/a", "example.org/bb", "example.org/ccc"];
    let pages: Vec<_> = urls
        .iter()
        .map(|url| flow.add(Fetch { url: url.to_string() }))
        .collect();
    let merged = flow.add(Merge {}).collect("pages", &pages);
    let title = "Report".to_owned();
    let report = flow.add(Render { title }).input("words", &merged);

    let reported = async {
        let run = ff.submit_flow(flow).await?;
        println!("submitted flow {}", run.id());
        run.result(&report).await
    };
    tokio::select! {
        ended = worker.run() => Err(format!("the worker has ended: {ended:?}").into()),
        text = reported => Ok(text?),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let ff = match std::env::var_os("FF_URL") {
        Some(_) => Client::from_env()?,
        None => Client::local(embedded::open("memory:").await?),
    };
    println!("{}", run(ff).await?);
    Ok(())
}
