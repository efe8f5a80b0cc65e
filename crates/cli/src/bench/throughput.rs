//! S1: submit → claim → complete. On Valkey every round of ours stands beside one of a bare list on the same server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ff_backend::Backend;
use ff_core::command::submit::{CreateExecution, Created};
use ff_core::fabric::Fabric;
use ff_core::id::ExecutionId;
use ff_core::name::ExecutionKind;
use ff_core::payload::Payload;

use super::limit::{Limit, LimitKind};
use super::load::{LoadArguments, Loop, Workers, check_delivery};
use super::measured::{Measured, StoreArguments, Usage, connection};
use super::{raw, through};
use crate::open::Address;
use crate::{open, say};

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
    /// Put every task under a limit that never refuses, which must be asked all the same
    #[arg(long, value_enum)]
    under: Option<LimitKind>,
    #[command(flatten)]
    pub(super) load: LoadArguments,
    #[command(flatten)]
    store: StoreArguments,
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

/// Tasks of a bare list for one of ours: it is so much faster that otherwise its rounds would be too short to measure.
const RAW_TASKS: usize = 4;

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
}

/// Runs the scenario and prints its figures.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let measured = Measured::open(&arguments.store).await?;
    let raw = match &arguments.store.store {
        Some(Address::Valkey(urls)) => Some(connection(urls).await?),
        _ => None,
    };
    let engine = open::engine(Arc::clone(&measured.backend) as Arc<dyn Backend>);
    let LoadArguments {
        submitters,
        workers,
        batch,
        payload,
    } = arguments.load;
    let tasks = arguments.tasks;
    say::line(format_args!(
        "S1 on {}: {tasks} tasks of {payload} bytes, {submitters} submitters, {workers} workers, batches of {batch}",
        measured.name
    ));
    if let Some(Way::Http) = arguments.through {
        through::run(&measured, &engine, arguments).await?;
        engine.stop().await;
        return Ok(());
    }
    let fabric: Arc<dyn Fabric> = Arc::new(engine.clone());
    let (mut rates, mut ratios) = (Vec::new(), Vec::new());
    let under = match arguments.under {
        Some(kind) => Some(Limit::create(&*fabric, kind).await?),
        None => None,
    };
    for _ in 0..arguments.rounds {
        let bare = match &raw {
            Some(connection) => {
                let took = raw::round(connection, arguments.load, RAW_TASKS * tasks).await?;
                Some((RAW_TASKS * tasks) as f64 / took.as_secs_f64())
            }
            None => None,
        };
        let amount = Amount {
            under,
            ..arguments.amount()
        };
        let round = round(&measured, &fabric, Loop::Calls, amount).await?;
        let rate = round.rate(tasks);
        rates.push(rate);
        ratios.extend(bare.map(|bare| rate / bare));
        report(&round, bare, tasks);
    }
    engine.stop().await;
    if arguments.rounds > 1 {
        say::line(format_args!("  median: {:.0} tasks/s", median(&mut rates)));
        if !ratios.is_empty() {
            say::line(format_args!(
                "  median: {:.1} % of the bare list",
                100.0 * median(&mut ratios)
            ));
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
    let before = measured.usage().await?;
    let started = Instant::now();
    let workers = Workers::start(fabric, by, amount.load, amount.tasks);
    let submitted = submit(fabric, amount).await?;
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

async fn submit(fabric: &Arc<dyn Fabric>, amount: Amount) -> anyhow::Result<Vec<ExecutionId>> {
    let mut command = CreateExecution::new(
        ExecutionKind::parse("bench")?,
        Payload::binary(vec![7; amount.load.payload]),
    );
    command.policy = amount.under.map(Limit::policy).unwrap_or_default();
    let shares = amount.load.shares(amount.tasks).into_iter();
    let submitters = shares.map(|share| tokio::spawn(submit_share(Arc::clone(fabric), share.len(), command.clone())));
    let mut ids = Vec::with_capacity(amount.tasks);
    for submitter in submitters.collect::<Vec<_>>() {
        ids.extend(submitter.await??);
    }
    Ok(ids)
}

async fn submit_share(
    fabric: Arc<dyn Fabric>,
    tasks: usize,
    command: CreateExecution,
) -> anyhow::Result<Vec<ExecutionId>> {
    let mut ids = Vec::with_capacity(tasks);
    while ids.len() < tasks {
        let batch = (tasks - ids.len()).min(256);
        let commands = vec![command.clone(); batch];
        for created in fabric.create_executions(commands).await? {
            match created? {
                Created::Created { execution_id: id } => ids.push(id),
                Created::Duplicate { execution_id, .. } => anyhow::bail!("{execution_id} was there before"),
            }
        }
    }
    Ok(ids)
}

/// Prints a round; `bare`: how many tasks a second went through a bare list before it.
pub(super) fn report(round: &Round, bare: Option<f64>, tasks: usize) {
    let rate = round.rate(tasks);
    say::line(format_args!("  {rate:.0} tasks/s, each delivered exactly once"));
    if let Some(bare) = bare {
        let ratio = 100.0 * rate / bare;
        say::line(format_args!(
            "    {ratio:.1} % of a bare list on the same server ({bare:.0}/s)"
        ));
    }
    report_usage(&round.used, tasks);
}

pub(super) fn report_usage(used: &Usage, tasks: usize) {
    let tasks_done = tasks as f64;
    let each = |duration: Duration| duration.as_secs_f64() * 1e6 / tasks_done;
    let mut line = format!(
        "    per task: {:.3} store calls, {:.1} µs of our CPU",
        used.calls as f64 / tasks_done,
        each(used.cpu)
    );
    if let Some(syncs) = used.syncs {
        line.push_str(&format!(", {:.3} syncs", syncs as f64 / tasks_done));
    }
    if let Some(cpu) = used.valkey_cpu {
        line.push_str(&format!(", {:.1} µs of Valkey's CPU", each(cpu)));
    }
    say::line(line);
}

pub(super) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
