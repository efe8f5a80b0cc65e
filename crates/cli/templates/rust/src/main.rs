//! A worker with two tasks. What a step gives is recorded, and not done again: kill this process where you like.

use std::error::Error;

use ff_sdk::prelude::*;
use serde::{Deserialize, Serialize};

/// Greets somebody.
#[derive(Serialize, Deserialize, Task)]
#[task(kind = "hello", output = String)]
struct Hello {
    name: String,
}

async fn hello(Input(job): Input<Hello>, ctx: Ctx) -> Result<String, TaskError> {
    let greeting = format!("hello {}", job.name);
    ctx.emit("line", &greeting).await?;
    Ok(greeting)
}

/// Writes to somebody, once a person has agreed.
#[derive(Serialize, Deserialize, Task)]
#[task(kind = "letter", output = String)]
struct Letter {
    name: String,
}

/// It starts again from its first line when somebody has decided; the draft comes from the journal then.
async fn letter(Input(job): Input<Letter>, ctx: Ctx) -> Result<String, TaskError> {
    let draft = ctx.step("draft", |_| write(&job.name)).await?;
    let decision = ctx.approval::<String>("review").show(&draft).await?;
    if !decision.approved {
        return Err(TaskError::permanent(format!("rejected by {}", decision.by)));
    }
    ctx.step("send", |_| async { Ok(format!("sent: {draft}")) }).await
}

/// Instead of a model.
async fn write(name: &str) -> Result<String, TaskError> {
    Ok(format!("Dear {name}, it works."))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // The server that FF_URL names; `ff dev --worker` sets it.
    let ff = Client::from_env()?;
    Worker::new(ff)
        .name("hello")
        .task(hello)
        .task(letter)
        .build()?
        .run()
        .await?;
    Ok(())
}
