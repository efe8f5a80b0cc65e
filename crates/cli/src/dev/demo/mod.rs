//! The demonstration: runs that stream, a flow, a budget, a quota, questions for a person, and a worker that is killed on the way.
//!
//! | where | what |
//! |---|---|
//! | `tasks` | what the worker in this process does |
//! | `agent` | what the agent does, in a process of its own |
//! | `process`, `keeper` | that process, and who starts it again when it is killed |
//! | `stage` | what is submitted, instead of what an earlier demonstration left |

mod agent;
mod keeper;
pub(crate) mod process;
mod stage;
mod tasks;

use std::sync::{Arc, Mutex, PoisonError};

use ff_core::fabric::Fabric;
use ff_core::id::BudgetId;
use ff_core::record::Happening;
use ff_sdk::{Client, Drain, Worker, WorkerError};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use self::keeper::{Keeper, Kept};
use self::stage::Stage;
use super::banner::Shown;
use super::narrate::Narrator;
use super::voice::Voice;
use crate::say;
use crate::verbs::output::Ink;

/// What the agent pays with.
const TOKENS: &str = "tokens";

/// The demonstration, with its worker.
pub(crate) struct Demo {
    client: Client,
    url: String,
    voice: Voice,
    worker: JoinHandle<Result<(), WorkerError>>,
    stop: oneshot::Sender<()>,
    keeper: Arc<Keeper>,
    agents: Mutex<Option<Kept>>,
}

impl Demo {
    /// Starts the worker of the lane `demo`.
    pub(crate) fn start(client: Client, shown: &Shown, voice: Voice) -> anyhow::Result<Self> {
        let (stop, stopped) = oneshot::channel();
        let worker = Worker::new(client.clone()).name("demo").drain(Drain::AT_STEP);
        let worker = tasks::all(worker).build()?;
        let worker = tokio::spawn(async move {
            // Whoever could say so is gone too when this fails.
            worker.run_until(async { _ = stopped.await }).await
        });
        Ok(Self {
            client,
            url: shown.url(),
            voice,
            worker,
            stop,
            keeper: Arc::default(),
            agents: Mutex::default(),
        })
    }

    /// Shows everything once, and returns when what has an end has ended.
    pub(crate) async fn show(&self, narrator: &Narrator) -> anyhow::Result<()> {
        say::line("  Demo       3 runs that stream, a flow of 12, a budget, a quota,");
        say::line("             2 questions for you, and a worker that is killed on the way\n");
        let cast = Stage::clear(&self.client).await?.set().await?;
        // Its process says at once what it does: first it is told that there is something to do.
        narrator.until(&cast.runs, |_| true).await?;
        let mut agents = Arc::clone(&self.keeper).start(self.url.clone(), self.voice);
        let told = async {
            narrator
                .until(&cast.questions, |what| what == Happening::Suspended)
                .await?;
            narrator.until(&cast.runs, ends).await?;
            narrator.until(&cast.flows, |what| what == Happening::FlowEnded).await
        };
        tokio::select! {
            told = told => told?,
            broken = agents.broke() => anyhow::bail!("the demonstration cannot go on: {broken}"),
        }
        // Somebody may want to run the agent again.
        *self.agents.lock().unwrap_or_else(PoisonError::into_inner) = Some(agents);
        self.sum_up(cast.budget).await
    }

    async fn sum_up(&self, budget: BudgetId) -> anyhow::Result<()> {
        let asked = self.keeper.asked();
        let spent = self.client.get_budget(budget).await?;
        let tokens = spent
            .dimensions
            .values()
            .find_map(|tokens| Some((tokens.usage, tokens.limits.hard?)));
        let (used, limit) = tokens.unwrap_or((0, 1));
        let told = format!(
            "asked the model {asked} times and paid {used} tokens: the budget is at {} %",
            used * 100 / limit
        );
        self.voice.tell("demo-agent", Ink::Good, told);
        Ok(())
    }

    /// Ends the worker; what it was doing goes on with the next one.
    pub(crate) async fn stop(self) {
        drop((self.stop, self.agents));
        match self.worker.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the worker of the demonstration has ended"),
            Err(error) => tracing::warn!(%error, "the worker of the demonstration has ended"),
        }
    }
}

fn ends(what: Happening) -> bool {
    matches!(
        what,
        Happening::Completed | Happening::Failed | Happening::Cancelled | Happening::Expired
    )
}
