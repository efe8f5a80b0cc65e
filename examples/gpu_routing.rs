//! Capabilities route work: a task says what it needs, a worker what it offers. What no worker can take waits, `explain` says for
//! what, and it runs as soon as such a worker is there.
//!
//! `cargo run --example gpu_routing` runs an engine inside this process; with `FF_URL=http://127.0.0.1:7117` it talks to a server.

#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;

use ff_sdk::embedded;
use ff_sdk::prelude::*;
use serde::{Deserialize, Serialize};

/// Any worker can do this.
#[derive(Serialize, Deserialize, Task)]
#[task(kind = "thumbnail", output = String)]
struct Thumbnail {
    picture: String,
}

/// Only a worker that offers `gpu` is handed this.
#[derive(Serialize, Deserialize, Task)]
#[task(kind = "film", output = String, capabilities = ["gpu"])]
struct Film {
    title: String,
}

/// Where a handler runs.
#[derive(Clone)]
struct Machine(&'static str);

async fn thumbnail(Input(job): Input<Thumbnail>, State(machine): State<Machine>) -> String {
    format!("{}, made on the {}", job.picture, machine.0)
}

async fn film(Input(job): Input<Film>, State(machine): State<Machine>) -> String {
    format!("{}, rendered on the {}", job.title, machine.0)
}

/// Works until `during` is over, then takes its leave: a worker that only disappears counts as there for another minute.
async fn works<T>(worker: &Worker, during: impl Future<Output = T>) -> Result<T, Box<dyn Error>> {
    let mut given = None;
    worker.run_until(async { given = Some(during.await) }).await?;
    given.ok_or_else(|| "the worker has ended".into())
}

/// What is seen of both.
#[derive(Debug)]
pub struct Seen {
    /// Who made the thumbnail.
    pub thumbnail: String,
    /// Why the film waited.
    pub why: Vec<String>,
    /// Who rendered the film.
    pub film: String,
}

/// Asks for both while there is only a laptop, and then brings the workstation.
pub async fn run(ff: Client) -> Result<Seen, Box<dyn Error>> {
    // All workers have the same code. They differ in what they offer.
    let on = |machine: &'static str| {
        let worker = Worker::new(ff.clone()).name(machine).state(Machine(machine));
        worker.task(thumbnail).task(film)
    };
    let laptop = on("laptop").build()?;
    let workstation = on("workstation").capabilities(["gpu"]).build()?;

    let asked = async {
        let picture = "crab.png".to_owned();
        let thumbnail = ff.submit(Thumbnail { picture }).await?.result().await?;
        println!("{thumbnail}");

        let title = "Crabs".to_owned();
        let film = ff.submit(Film { title }).await?;
        let conditions = film.explain().await?.conditions;
        let in_the_way = conditions.into_iter().filter(|condition| condition.blocks);
        let why: Vec<String> = in_the_way.map(|condition| condition.detail).collect();
        println!("the film waits: {}", why.join("; "));

        let film = works(&workstation, film.result()).await??;
        println!("{film}");
        Ok(Seen { thumbnail, why, film })
    };
    works(&laptop, asked).await?
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let ff = match std::env::var_os("FF_URL") {
        Some(_) => Client::from_env()?,
        None => Client::local(embedded::open("memory:").await?),
    };
    run(ff).await?;
    Ok(())
}
