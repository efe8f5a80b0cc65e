//! The worker that `ff conformance` tries the Rust SDK with: every kind that docs/reference/conformance.md lists.
//!
//! `ff conformance --worker target/debug/examples/conformance_worker`

use std::error::Error;
use std::time::Duration;

use ff_sdk::prelude::*;
use ff_sdk::{Attempt, BudgetId, Payload, Raw, Tier};
use futures::future::try_join_all;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Where effects are noted: the address in `FF_LEDGER`.
#[derive(Clone)]
struct Ledger(String);

impl Ledger {
    fn from_env() -> Result<Self, Box<dyn Error>> {
        let url = std::env::var("FF_LEDGER")?;
        Ok(Self(url.trim_start_matches("http://").trim_end_matches('/').to_owned()))
    }

    /// An effect has happened.
    async fn note(&self, ctx: &Ctx, effect: &str, detail: Value) -> Result<(), TaskError> {
        let note = json!({ "execution_id": ctx.id().to_string(), "effect": effect, "detail": detail }).to_string();
        let (host, length) = (&self.0, note.len());
        let head = format!(
            "POST / HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        let mut connection = TcpStream::connect(host).await?;
        connection.write_all((head + &note).as_bytes()).await?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await?;
        match answer.starts_with("HTTP/1.1 200") {
            true => Ok(()),
            false => Err(TaskError::transient(format!("the ledger says {answer}"))),
        }
    }
}

/// Writes a task per kind: its input, and what it gives.
macro_rules! tasks {
    ($($name:ident $kind:literal -> $output:ty { $($field:ident: $type:ty),* })+) => {
        $(
            #[derive(Serialize, Deserialize)]
            struct $name { $($field: $type),* }

            impl Task for $name {
                const KIND: &'static str = $kind;
                type Output = $output;
                type Inputs = ();
            }
        )+
    };
}

tasks! {
    Fail "fail" -> Value { times: u32 }
    Steps "steps" -> Vec<u64> { count: u64, ms: u64 }
    Parallel "parallel" -> Vec<u64> { count: u64 }
    Keyed "keyed" -> Vec<String> { items: Vec<String> }
    Sleep "sleep" -> String { ms: u64 }
    Wait "wait" -> Option<Value> { timeout_ms: u64 }
    Spawn "spawn" -> Vec<Value> { names: Vec<String> }
    Frames "frames" -> u64 { count: u64 }
    Charge "charge" -> u64 { budget_id: BudgetId, turns: u64, tokens: u64 }
    Tiers "tiers" -> String { until: String }
}

/// Anything, which is given back.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Echo(Value);

impl Task for Echo {
    const KIND: &'static str = "echo";
    type Output = Value;
    type Inputs = ();
}

async fn echo(Input(Echo(value)): Input<Echo>) -> Value {
    value
}

async fn bytes(Raw(payload): Raw) -> Payload {
    payload
}

async fn fail(Input(job): Input<Fail>, attempt: Attempt) -> Result<Value, TaskError> {
    if attempt.index < job.times {
        return Err(TaskError::transient("not yet"));
    }
    Ok(json!({ "attempt": attempt.index }))
}

async fn permanent() -> Result<Payload, TaskError> {
    Err(TaskError::permanent("no try will mend this"))
}

async fn steps(Input(job): Input<Steps>, State(ledger): State<Ledger>, ctx: Ctx) -> Result<Vec<u64>, TaskError> {
    let mut squares = Vec::new();
    for number in 0..job.count {
        let body = || async {
            ledger.note(&ctx, &format!("turn#{number}"), Value::Null).await?;
            tokio::time::sleep(Duration::from_millis(job.ms)).await;
            Ok(number * number)
        };
        squares.push(ctx.step("turn", |_| body()).await?);
    }
    Ok(squares)
}

async fn parallel(Input(job): Input<Parallel>, State(ledger): State<Ledger>, ctx: Ctx) -> Result<Vec<u64>, TaskError> {
    let part = |number: u64| {
        let (ledger, of_step) = (ledger.clone(), ctx.clone());
        let call = ctx.step("part", move |_| async move {
            ledger.note(&of_step, &format!("part#{number}"), Value::Null).await?;
            Ok(number)
        });
        call.into_future()
    };
    try_join_all((0..job.count).map(part)).await
}

async fn keyed(Input(job): Input<Keyed>, State(ledger): State<Ledger>, ctx: Ctx) -> Result<Vec<String>, TaskError> {
    let mut given = Vec::new();
    for item in &job.items {
        let body = || async {
            ledger.note(&ctx, &format!("item[{item}]"), Value::Null).await?;
            Ok(item.clone())
        };
        given.push(ctx.step("item", |_| body()).key(item).await?);
    }
    Ok(given)
}

async fn sleep(Input(job): Input<Sleep>, State(ledger): State<Ledger>, ctx: Ctx) -> Result<String, TaskError> {
    ctx.step("before", |_| ledger.note(&ctx, "before#0", Value::Null))
        .await?;
    ctx.sleep("nap", Duration::from_millis(job.ms)).await?;
    ctx.step("after", |_| ledger.note(&ctx, "after#0", Value::Null)).await?;
    Ok("awake".to_owned())
}

async fn wait(Input(job): Input<Wait>, ctx: Ctx) -> Result<Option<Value>, TaskError> {
    ctx.wait("paid").timeout(Duration::from_millis(job.timeout_ms)).await
}

async fn approval(State(ledger): State<Ledger>, ctx: Ctx) -> Result<Payload, TaskError> {
    ctx.step("draft", |_| ledger.note(&ctx, "draft#0", Value::Null)).await?;
    let decided = ctx.approval::<Value>("review").show("a draft").await?;
    Ok(Payload::json(&json!({ "approved": decided.approved })))
}

async fn callback(State(ledger): State<Ledger>, ctx: Ctx) -> Result<Payload, TaskError> {
    let came = ctx.callback("came").await?;
    let hand_out = || async { ledger.note(&ctx, "hand#0", json!(came.handle()?.url(""))).await };
    ctx.step("hand", |_| hand_out()).await?;
    let brought: Value = came.wait().await?;
    Ok(Payload::json(&brought))
}

async fn spawn(Input(job): Input<Spawn>, ctx: Ctx) -> Result<Vec<Value>, TaskError> {
    let start = |name: &String| ctx.spawn("child", Echo(json!(name))).into_future();
    let children = try_join_all(job.names.iter().map(start)).await?;
    let mut results = Vec::new();
    for child in &children {
        results.push(child.result().await?);
    }
    Ok(results)
}

async fn frames(Input(job): Input<Frames>, ctx: Ctx) -> Result<u64, TaskError> {
    let say = || async {
        let mut out = ctx.frames("token");
        for number in 0..job.count {
            out.push(&number).await?;
        }
        Ok(job.count)
    };
    ctx.step("say", |_| say()).await
}

async fn charge(Input(job): Input<Charge>, State(ledger): State<Ledger>, ctx: Ctx) -> Result<u64, TaskError> {
    for number in 0..job.turns {
        let body = || async { ledger.note(&ctx, &format!("turn#{number}"), Value::Null).await };
        let turn = ctx.step("turn", |_| body());
        turn.charge(job.budget_id, |()| [("tokens", job.tokens)]).await?;
    }
    Ok(job.turns)
}

async fn tiers(Input(job): Input<Tiers>, Tier(tier): Tier) -> Result<String, TaskError> {
    match tier.model == job.until {
        true => Ok(tier.model),
        false => Err(TaskError::transient("another model, please")),
    }
}

/// Runs until it is told to stop.
async fn stoppable(State(ledger): State<Ledger>, ctx: Ctx) -> Result<Payload, TaskError> {
    ledger.note(&ctx, "begun", Value::Null).await?;
    let stop = ctx.stopped().await;
    ledger.note(&ctx, "stopped", Value::Null).await?;
    Err(stop.into())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let worker = Worker::new(Client::from_env()?)
        .name("conformance")
        .state(Ledger::from_env()?);
    let worker = worker
        .task(echo)
        .on("bytes", bytes)
        .task(fail)
        .on("permanent", permanent);
    let worker = worker.task(steps).task(parallel).task(keyed).task(sleep).task(wait);
    let worker = worker
        .on("approval", approval)
        .on("callback", callback)
        .task(spawn)
        .task(frames);
    let worker = worker.task(charge).task(tiers).on("stoppable", stoppable);
    worker.build()?.run().await?;
    Ok(())
}
