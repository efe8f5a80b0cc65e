//! The agent, and the worker process that runs some of them at once.

use std::path::Path;
use std::time::Duration;

use ff_sdk::prelude::*;
use ff_sdk::{BudgetId, StepRun};
use serde::{Deserialize, Serialize};

use super::ledger::Notes;
use crate::once_more::{Working, once_more, until_told_to_end};

/// Steps of every agent.
pub(crate) const STEPS: usize = 40;
/// Agents that a worker runs at once.
pub(crate) const AT_ONCE: usize = 4;
/// What all costs are charged in.
pub(crate) const TOKENS: &str = "tokens";
/// How long a lease lasts: so long an agent waits for another worker when its own is killed. A worker that lives must never
/// lose one, on however busy a machine.
const LEASE: Duration = Duration::from_secs(3);
/// How long a body takes.
const CALL: Duration = Duration::from_millis(3);

/// Where the server and the ledger are, and which worker this is; set for the process of a worker only.
const SERVER: &str = "FF_TEST_AGENTS_OF";
const LEDGER: &str = "FF_TEST_AGENTS_LEDGER";
const NUMBER: &str = "FF_TEST_AGENTS_WORKER";

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "agent", output = u64)]
pub(crate) struct Agent {
    pub(crate) budget: BudgetId,
}

/// Takes its turns one after the other, and gives what they cost together.
async fn agent(Input(job): Input<Agent>, State(notes): State<Notes>, ctx: Ctx) -> Result<u64, TaskError> {
    let mut sum = 0;
    for _ in 0..STEPS {
        let turn = ctx.step("turn", |run| turn(&notes, &ctx, run));
        sum += turn.charge(job.budget, |tokens| [(TOKENS, *tokens)]).await?;
    }
    Ok(sum)
}

/// A call of a model: it is paid for as soon as it begins, whether anybody hears the answer or not.
async fn turn(notes: &Notes, ctx: &Ctx, run: StepRun) -> Result<u64, TaskError> {
    let tokens = u64::from(rand::random::<u32>());
    let execution = ctx.id().to_string();
    let key = run.key();
    let (_, key) = key.split_once('/').expect("the key of the execution stands in front");
    notes.note(&execution, key, tokens)?;
    tokio::time::sleep(CALL).await;
    Ok(tokens)
}

/// Starts the process of worker `number`.
pub(crate) fn start_worker(number: usize, server: &str, ledger: &Path) -> Working {
    let mut command = once_more("paid_once::agent::the_worker");
    command.env(SERVER, server).env(LEDGER, ledger);
    Working::start(command.env(NUMBER, number.to_string()))
}

/// Not a test of its own: what the process of a worker runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_worker() {
    let told = |name| std::env::var(name).ok();
    let (Some(server), Some(ledger), Some(number)) = (told(SERVER), told(LEDGER), told(NUMBER)) else {
        return;
    };
    let notes = Notes::of(number.parse().unwrap(), Path::new(&ledger));
    let worker = Worker::new(Client::connect(server).open().unwrap());
    let worker = worker
        .name("agents")
        .concurrency(AT_ONCE)
        .lease(LEASE)
        .state(notes)
        .task(agent);
    worker.build().unwrap().run_until(until_told_to_end()).await.unwrap();
}
