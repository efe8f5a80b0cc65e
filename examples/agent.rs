//! An agent: it streams what the model says, pays for it from a budget, and stops when it is told to. Its process dies on the way,
//! and its budget runs out; it goes on where it was, and no answer of the model is paid twice.
//!
//! `cargo run --example agent` runs an engine inside this process; with `FF_URL=http://127.0.0.1:7117` it talks to a server.

#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ff_sdk::prelude::*;
use ff_sdk::{BudgetId, PublicState, embedded};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

/// What every reply of the model costs.
const TOKENS: u64 = 10;

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "agent", output = String)]
struct Ask {
    question: String,
    budget: BudgetId,
}

/// What the model says: that it wants something looked up, or an answer.
#[derive(Serialize, Deserialize)]
struct Reply {
    text: String,
    tokens: u64,
    look_up: Option<String>,
}

/// Instead of a model: it looks two things up, then it knows.
#[derive(Clone, Default)]
struct Llm {
    calls: Arc<AtomicU64>,
}

impl Llm {
    /// The words of a reply, one after the other, and the whole of it.
    async fn stream(&self, talk: &[String]) -> Result<(Vec<&'static str>, Reply), TaskError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let (words, look_up) = match talk.len() {
            1 => (vec!["Let", "me", "see."], Some("crabs")),
            3 => (vec!["And", "this."], Some("lobsters")),
            _ => (vec!["Both", "have", "ten", "legs."], None),
        };
        let reply = Reply {
            text: words.join(" "),
            tokens: TOKENS,
            look_up: look_up.map(str::to_owned),
        };
        Ok((words, reply))
    }
}

/// Looks things up. The first time that it is asked, the machine loses power.
#[derive(Clone, Default)]
struct Library {
    searches: Arc<AtomicU64>,
    power_fails: Arc<Notify>,
}

impl Library {
    async fn search(&self, what: &str) -> Result<String, TaskError> {
        if self.searches.fetch_add(1, Ordering::SeqCst) == 0 {
            self.power_fails.notify_one();
            std::future::pending::<()>().await;
        }
        Ok(format!("{what}: ten legs"))
    }
}

async fn agent(
    Input(job): Input<Ask>,
    State(llm): State<Llm>,
    State(library): State<Library>,
    ctx: Ctx,
) -> Result<String, TaskError> {
    let mut talk = vec![job.question.clone()];
    loop {
        // Recorded as llm#0, llm#1, …: with what it cost, in one commit.
        let reply = ctx
            .step("llm", |_| async {
                let (words, reply) = llm.stream(&talk).await?;
                let mut out = ctx.frames("token");
                for word in words {
                    tokio::select! {
                        biased;
                        stop = ctx.stopped() => return Err(stop.into()),
                        pushed = out.push(word) => pushed?,
                    }
                }
                Ok(reply)
            })
            .charge(job.budget, |reply: &Reply| [("tokens", reply.tokens)])
            .await?;
        talk.push(reply.text.clone());
        match reply.look_up {
            Some(what) => talk.push(ctx.step("search", |_| library.search(&what)).await?),
            None => return Ok(reply.text),
        }
    }
}

/// What is seen of a run.
#[derive(Debug, PartialEq)]
pub struct Seen {
    /// What the agent says in the end.
    pub answer: String,
    /// Everything it said, as it was streamed.
    pub words: Vec<String>,
    /// How often the model was asked.
    pub calls: u64,
    /// What the budget was charged.
    pub tokens: u64,
}

/// Asks, with a worker that dies and one that takes over, and a budget that is raised when it is used up.
pub async fn run(ff: Client) -> Result<Seen, Box<dyn Error>> {
    let (llm, library) = (Llm::default(), Library::default());
    let worker = || {
        let worker = Worker::new(ff.clone()).state(llm.clone()).state(library.clone());
        worker.task(agent).build()
    };
    let budget = ff
        .new_budget("what the agent spends")
        .hard("tokens", 2 * TOKENS)
        .await?;
    let question = "Crabs or lobsters?".to_owned();
    let run = ff.submit(Ask { question, budget }).budget(budget).await?;

    // Dropped, a worker is gone with everything it was doing.
    let first = worker()?;
    tokio::select! {
        ended = first.run() => return Err(format!("the worker has ended: {ended:?}").into()),
        () = library.power_fails.notified() => println!("the first worker dies in the middle of a search"),
    }

    let asked = async {
        while run.state().await? != PublicState::RateLimited {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        println!("the budget of {} tokens is used up; somebody raises it", 2 * TOKENS);
        ff.change_budget(budget).hard("tokens", 100 * TOKENS).await?;

        let (mut frames, mut words) = (run.frames().of_type("token").await?, Vec::new());
        while let Some(frame) = frames.next().await.transpose()? {
            words.push(frame.json::<String>()?);
        }
        println!("it said: {}", words.join(" "));
        let answer = run.result().await?;
        let tokens = ff
            .get_budget(budget)
            .await?
            .dimensions
            .values()
            .map(|tokens| tokens.usage)
            .sum();
        let calls = llm.calls.load(Ordering::SeqCst);
        Ok::<_, Box<dyn Error>>(Seen {
            answer,
            words,
            calls,
            tokens,
        })
    };
    let second = worker()?;
    tokio::select! {
        ended = second.run() => Err(format!("the worker has ended: {ended:?}").into()),
        seen = asked => seen,
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let ff = match std::env::var_os("FF_URL") {
        Some(_) => Client::from_env()?,
        None => Client::local(embedded::open("memory:").await?),
    };
    let seen = run(ff).await?;
    println!(
        "{} ({} calls of the model, {} tokens)",
        seen.answer, seen.calls, seen.tokens
    );
    Ok(())
}
