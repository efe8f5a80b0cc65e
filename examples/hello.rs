//! The smallest program: a task, its handler, and somebody who asks for it.
//!
//! `cargo run --example hello` runs an engine inside this process; with `FF_URL=http://127.0.0.1:7117` it talks to a server.

#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;

use ff_sdk::embedded;
use ff_sdk::prelude::*;
use serde::{Deserialize, Serialize};

/// What is asked for. Whoever submits writes one, the handler reads it.
#[derive(Serialize, Deserialize, Task)]
#[task(kind = "hello", output = String)]
struct Hello {
    name: String,
}

/// How it is done: a plain async function.
async fn hello(Input(job): Input<Hello>) -> String {
    format!("hello {}", job.name)
}

/// Submits one and waits for its result, while a worker runs in the same process. Often these are two programs.
pub async fn run(ff: Client) -> Result<String, Box<dyn Error>> {
    let worker = Worker::new(ff.clone()).task(hello).build()?;
    let asked = async {
        let run = ff.submit(Hello { name: "Ana".into() }).await?;
        println!("submitted {}", run.id());
        run.result().await
    };
    tokio::select! {
        ended = worker.run() => Err(format!("the worker has ended: {ended:?}").into()),
        greeting = asked => Ok(greeting?),
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
