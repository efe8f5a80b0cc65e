//! Retries that move down a list of models: the big one is busy, so the small one answers. What was recorded stays.
//!
//! `cargo run --example tiers` runs an engine inside this process; with `FF_URL=http://127.0.0.1:7117` it talks to a server.

#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;
use std::fmt;
use std::time::Duration;

use ff_sdk::prelude::*;
use ff_sdk::{Tier, embedded};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "ask", output = String)]
struct Ask {
    question: String,
}

/// Instead of two providers: the one with the big model has no time.
#[derive(Clone)]
struct Llm;

#[derive(Debug)]
enum LlmError {
    Busy { after: Duration },
    BadPrompt,
}

impl fmt::Display for LlmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy { after } => write!(f, "busy, come back in {after:?}"),
            Self::BadPrompt => f.write_str("nothing was asked"),
        }
    }
}

impl Error for LlmError {}

impl Llm {
    async fn chat(&self, provider: &str, model: &str, prompt: &str) -> Result<String, LlmError> {
        println!("asking the {model} model of {provider}");
        match (model, prompt) {
            (_, "") => Err(LlmError::BadPrompt),
            ("big", _) => Err(LlmError::Busy {
                after: Duration::from_millis(20),
            }),
            _ => Ok(format!("{prompt} 42, says the {model} model.")),
        }
    }
}

/// The category says what a failure is; the policy says what is retried.
async fn ask(Input(job): Input<Ask>, State(llm): State<Llm>, Tier(tier): Tier, ctx: Ctx) -> Result<String, TaskError> {
    let prompt = ctx.step("prompt", |_| async { Ok(job.question.clone()) }).await?;
    let asked = llm.chat(&tier.provider, &tier.model, &prompt).await;
    asked.map_err(|error| match error {
        LlmError::Busy { after } => TaskError::category("rate_limited", error).retry_after(after),
        LlmError::BadPrompt => TaskError::permanent(error),
    })
}

/// Submits a question with two tiers: attempt 0 uses the first, attempt 1 and those after it the second.
pub async fn run(ff: Client) -> Result<String, Box<dyn Error>> {
    let worker = Worker::new(ff.clone()).state(Llm).task(ask).build()?;
    let answered = async {
        let question = "Why?".to_owned();
        let run = ff
            .submit(Ask { question })
            .retries(3)
            .backoff(Duration::from_millis(10)..secs(1))
            .tiers([tier("openai", "big", secs(60)), tier("local", "small", mins(3))])
            .await?;
        run.result().await
    };
    tokio::select! {
        ended = worker.run() => Err(format!("the worker has ended: {ended:?}").into()),
        answer = answered => Ok(answer?),
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
