//! S1: submit → claim → complete. On a server every round of ours stands beside one of a bare queue there.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ff_core::fabric::Fabric;
use ff_core::id::ExecutionId;

use super::limit::{Limit, LimitKind};
use super::load::{LoadArguments, Loop, Workers, check_delivery};
use super::measured::{Measured, StoreArguments};
use super::medians::Medians;
use super::output::{Beside, Figures, Output};
use super::raw::Raw;
use super::run::Way;
use super::servers;
use super::submit::{submit, task};
use super::through;
use super::usage::Usage;

/// S1: submit, claim and complete tasks with concurrent workers.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Tasks to run in a round
    #[arg(long, default_value_t = 20_000)]
    pub(super) tasks: usize,
    /// Rounds; the median counts
    #[arg(long, default_value_t = 1)]
    pub(super) rounds: usize,
    /// Besides, run every round through a client and a server, and compare
    #[arg(long, value_enum)]
    through: Option<Way>,
    /// Through so many servers instead, each a process of its own, and through one of them; not on SQLite
    #[arg(long, conflicts_with = "through")]
    servers: Option<usize>,
    /// Put every task under a limit that never refuses, which must be asked all the same; beside rounds without one
    #[arg(long, value_enum)]
    under: Option<LimitKind>,
    #[command(flatten)]
    pub(super) load: LoadArguments,
    #[command(flatten)]
    pub(super) store: StoreArguments,
    #[command(flatten)]
    pub(super) output: Output,
}

/// How much is done in a round, and how hard.
#[derive(Clone, Copy)]
pub(super) struct Amount {
    pub(super) tasks: usize,
    pub(super) load: LoadArguments,
    pub(super) under: Option<Limit>,
}

impl Amount {
    /// So many tasks, under no limit.
    pub(super) const fn plain(tasks: usize, load: LoadArguments) -> Self {
        Self {
            tasks,
            load,
            under: None,
        }
    }
}

impl Arguments {
    pub(super) const fn amount(&self) -> Amount {
        Amount::plain(self.tasks, self.load)
    }
}

/// One round.
pub(super) struct Round {
    took: Duration,
    pub(super) used: Usage,
    /// What was done.
    pub(super) executions: Vec<ExecutionId>,
}

impl Round {
    /// Tasks per second.
    pub(super) fn rate(&self, tasks: usize) -> f64 {
        tasks as f64 / self.took.as_secs_f64()
    }

    /// What it was, for programs, if so many tasks were done in it.
    pub(super) fn figures<'a>(
        &self,
        scenario: &'static str,
        measured: &'a Measured,
        tasks: usize,
        way: impl Into<Cow<'a, str>>,
    ) -> Figures<'a> {
        self.told(Figures::of(scenario, &measured.name, way), tasks)
    }

    /// Adds what it was to figures.
    pub(super) fn told<'a>(&self, figures: Figures<'a>, tasks: usize) -> Figures<'a> {
        figures.done(tasks, self.took).using(self.used.each(tasks))
    }
}

/// Runs the scenario and prints its figures.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let measured = Measured::open(&arguments.store).await?;
    if let Some(count) = arguments.servers {
        return servers::run(&measured, arguments, count).await;
    }
    let raw = Raw::beside(&arguments.store).await?;
    let engine = measured.engine();
    let (tasks, load, output) = (arguments.tasks, arguments.load, arguments.output);
    output.say(format_args!("S1 on {}: {tasks} tasks, {load}", measured.name));
    if let Some(Way::Http) = arguments.through {
        through::run(&measured, &engine, arguments).await?;
        engine.stop().await;
        return Ok(());
    }
    let fabric: Arc<dyn Fabric> = Arc::new(engine.clone());
    let fabrics = std::slice::from_ref(&fabric);
    let under = match arguments.under {
        Some(kind) => Some(Limit::create(&*fabric, kind).await?),
        None => None,
    };
    let mut medians = Medians::default();
    for _ in 0..arguments.rounds {
        let mut beside = Beside::new();
        if let Some(raw) = &raw {
            beside.insert(raw.name(), raw.rate(load, tasks).await?);
        }
        if under.is_some() {
            let plain = round(&measured, fabrics, Loop::Calls, arguments.amount()).await?;
            beside.insert("S1 without a limit", plain.rate(tasks));
        }
        let amount = Amount {
            under,
            ..arguments.amount()
        };
        let round = round(&measured, fabrics, Loop::Calls, amount).await?;
        let figures = round.figures("s1", &measured, tasks, "in process").beside(beside);
        output.tell(&figures)?;
        medians.add(&figures);
    }
    engine.stop().await;
    output.say(medians);
    Ok(())
}

pub(super) async fn round(
    measured: &Measured,
    fabrics: &[Arc<dyn Fabric>],
    by: Loop,
    amount: Amount,
) -> anyhow::Result<Round> {
    let Amount { tasks, load, under } = amount;
    let mut command = task(load.payload)?;
    command.policy = under.map(Limit::policy).unwrap_or_default();
    let before = measured.usage().await?;
    let started = Instant::now();
    let workers = Workers::start(fabrics, by, load, tasks);
    let submitted = submit(fabrics, load.submitters, tasks, &command).await?;
    let completed = workers.completed().await?;
    let took = started.elapsed();
    let used = measured.usage().await?.since(before);
    check_delivery(&submitted, &completed)?;
    Ok(Round {
        took,
        used,
        executions: submitted,
    })
}
