//! A person decides: the handler writes a draft, waits up to a week for a yes or a no, and posts. While it waits no worker holds
//! it, and no process needs to run.
//!
//! `cargo run --example approval` runs an engine inside this process; with `FF_URL=http://127.0.0.1:7117` it talks to a server.

#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;

use ff_sdk::prelude::*;
use ff_sdk::{Happening, OnTimeout, embedded};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "publish", output = String)]
struct Publish {
    title: String,
}

/// What the person who decides may add.
#[derive(Serialize, Deserialize)]
struct Note {
    text: String,
}

/// Stands for a system that posts things, and for one that writes them.
#[derive(Clone)]
struct Cms;

impl Cms {
    async fn write(&self, title: &str) -> Result<String, TaskError> {
        println!("writing a draft");
        Ok(format!("All about {title}."))
    }

    /// Posted twice with the same key it is posted once: the key is the same in every attempt.
    async fn post(&self, text: &str, key: String) -> Result<String, TaskError> {
        println!("posting with key …{}", &key[key.len().saturating_sub(6)..]);
        Ok(format!("https://blog.example.org/{}", text.len()))
    }
}

/// It starts again from its first line after the wait; the draft comes from the record then.
async fn publish(Input(job): Input<Publish>, State(cms): State<Cms>, ctx: Ctx) -> Result<String, TaskError> {
    let draft = ctx.step("draft", |_| cms.write(&job.title)).await?;
    let review = ctx.approval::<Note>("review").show(&draft).expires(days(7));
    let decision = review.on_timeout(OnTimeout::Escalate).await?;
    if !decision.approved {
        return Err(TaskError::permanent(format!("rejected by {}", decision.by)));
    }
    let note = decision.note.map(|note| note.text).unwrap_or_default();
    println!("approved by {}: {note}", decision.by);
    ctx.step("post", |s| cms.post(&draft, s.key())).await
}

/// Submits, decides as soon as somebody is asked, and waits for the address.
pub async fn run(ff: Client) -> Result<String, Box<dyn Error>> {
    let worker = Worker::new(ff.clone()).state(Cms).task(publish).build()?;
    let published = async {
        let title = "crabs".to_owned();
        let run = ff.submit(Publish { title }).await?;
        let asked = Events::of_execution(run.id())
            .only([Happening::Suspended])
            .from_oldest();
        ff.events(asked).await?.next().await.transpose()?;
        println!("{} waits for a person", run.id());
        let text = "nice".to_owned();
        run.approve("review").note(&Note { text }).await?;
        run.result().await
    };
    tokio::select! {
        ended = worker.run() => Err(format!("the worker has ended: {ended:?}").into()),
        url = published => Ok(url?),
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
