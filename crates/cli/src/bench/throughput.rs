//! S1: submit → claim → complete. On a server every round of ours stands beside one of a bare queue there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ff_backend::Backend;
use ff_core::fabric::Fabric;
use ff_core::id::ExecutionId;

use super::limit::{Limit, LimitKind};
use super::load::{LoadArguments, Loop, Workers, check_delivery};
use super::measured::{Measured, StoreArguments};
use super::output::{Beside, Figures, Output};
use super::raw::Raw;
use super::submit::{submit, task};
use super::through;
use super::usage::Usage;
use crate::open;

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
    /// Put every task under a limit that never refuses, which must be asked all the same; beside rounds without one
    #[arg(long, value_enum)]
    under: Option<LimitKind>,
    #[command(flatten)]
    pub(super) load: LoadArguments,
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    pub(super) output: Output,
}

/// How workers and submitters reach the engine.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Way {
    /// Over sockets of this machine, in JSON
    Http,
}

/// How much is done in a round, and how hard.
#[derive(Clone, Copy)]
pub(super) struct Amount {
    pub(super) tasks: usize,
    pub(super) load: LoadArguments,
    pub(super) under: Option<Limit>,
}

impl Arguments {
    pub(super) const fn amount(&self) -> Amount {
        Amount {
            tasks: self.tasks,
            load: self.load,
            under: None,
        }
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
        beside: Beside<'a>,
    ) -> Figures<'a> {
        Figures {
            scenario,
            store: &measured.name,
            way: "in process",
            tasks,
            seconds: self.took.as_secs_f64(),
            each: self.used.each(tasks),
            beside,
        }
    }
}

/// Runs the scenario and prints its figures.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let measured = Measured::open(&arguments.store).await?;
    let raw = Raw::beside(&arguments.store).await?;
    let engine = open::engine(Arc::clone(&measured.backend) as Arc<dyn Backend>);
    let (tasks, load, output) = (arguments.tasks, arguments.load, arguments.output);
    output.say(format_args!("S1 on {}: {tasks} tasks, {load}", measured.name));
    if let Some(Way::Http) = arguments.through {
        through::run(&measured, &engine, arguments).await?;
        engine.stop().await;
        return Ok(());
    }
    let fabric: Arc<dyn Fabric> = Arc::new(engine.clone());
    let under = match arguments.under {
        Some(kind) => Some(Limit::create(&*fabric, kind).await?),
        None => None,
    };
    let (mut rates, mut ratios) = (Vec::new(), BTreeMap::<_, Vec<f64>>::new());
    for _ in 0..arguments.rounds {
        let mut beside = Beside::new();
        if let Some(raw) = &raw {
            beside.insert(raw.name(), raw.rate(load, tasks).await?);
        }
        if under.is_some() {
            let plain = round(&measured, &fabric, Loop::Calls, arguments.amount()).await?;
            beside.insert("S1 without a limit", plain.rate(tasks));
        }
        let amount = Amount {
            under,
            ..arguments.amount()
        };
        let round = round(&measured, &fabric, Loop::Calls, amount).await?;
        let figures = round.figures("s1", &measured, tasks, beside);
        report(output, &figures)?;
        let rate = round.rate(tasks);
        rates.push(rate);
        for (other, of_other) in figures.beside {
            ratios.entry(other).or_default().push(rate / of_other);
        }
    }
    engine.stop().await;
    if arguments.rounds > 1 {
        output.say(format_args!("  median: {:.0} tasks/s", median(&mut rates)));
        for (other, ratios) in &mut ratios {
            output.say(format_args!("  median: {:.1} % of {other}", 100.0 * median(ratios)));
        }
    }
    Ok(())
}

pub(super) async fn round(
    measured: &Measured,
    fabric: &Arc<dyn Fabric>,
    by: Loop,
    amount: Amount,
) -> anyhow::Result<Round> {
    let Amount { tasks, load, under } = amount;
    let mut command = task(load.payload)?;
    command.policy = under.map(Limit::policy).unwrap_or_default();
    let before = measured.usage().await?;
    let started = Instant::now();
    let workers = Workers::start(fabric, by, load, tasks);
    let submitted = submit(fabric, load.submitters, tasks, &command).await?;
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

/// Prints a round.
pub(super) fn report(output: Output, round: &Figures<'_>) -> anyhow::Result<()> {
    let rate = round.tasks as f64 / round.seconds;
    output.say(format_args!("  {rate:.0} tasks/s, each delivered exactly once"));
    for (other, of_other) in &round.beside {
        let ratio = 100.0 * rate / of_other;
        output.say(format_args!("    {ratio:.1} % of {other} ({of_other:.0}/s)"));
    }
    output.say(format_args!("    per task: {}", round.each));
    output.round(round)
}

pub(super) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
