//! Whether calls cost more when more is stored. Of what is stored one half waits in the lane, and the other for its time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ff_backend::Backend;
use ff_backend::due::Due;
use ff_core::command::submit::CreateExecution;
use ff_core::fabric::Fabric;
use ff_core::name::LaneId;
use ff_core::partition::{Family, Partition, PartitionCounts};
use futures::future::try_join_all;

use super::load::{claim, complete};
use super::measured::{Measured, StoreArguments};
use super::submit::{submit, submit_batch, task};
use super::times::Times;
use crate::say;

/// What calls cost when little and when much is stored.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Executions that are little
    #[arg(long, default_value_t = 10_000)]
    few: usize,
    /// Executions that are much
    #[arg(long, default_value_t = 1_000_000)]
    stored: usize,
    /// Calls of every kind, one after the other; the median counts
    #[arg(long, default_value_t = 500)]
    calls: usize,
    /// Tasks of a call
    #[arg(long, default_value_t = 32)]
    batch: usize,
    /// Bytes of every input
    #[arg(long, default_value_t = 256)]
    payload: usize,
    #[command(flatten)]
    store: StoreArguments,
}

/// Who fills the store at the same time.
const SUBMITTERS: usize = 4;
/// Longer than any run takes.
const LATER: ff_core::time::Duration = ff_core::time::Duration::from_hours(24);
/// Items of a page of what is due, as the pump asks for.
const DUE_ITEMS: usize = 256;

/// How long calls took.
#[derive(Default)]
struct Costs {
    submits: Vec<Duration>,
    claims: Vec<Duration>,
    completes: Vec<Duration>,
    dues: Vec<Duration>,
}

/// Runs the scenario and prints its figures.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let measured = Measured::open(&arguments.store).await?;
    let engine = measured.engine();
    let fabric: Arc<dyn Fabric> = Arc::new(engine.clone());
    let Arguments { few, stored, batch, .. } = *arguments;
    say::line(format_args!(
        "calls on {} with {few} and with {stored} stored executions, {batch} tasks each",
        measured.name
    ));
    fill(&measured, &fabric, few, arguments.payload).await?;
    // Once to begin with: the first calls of a store find it cleaner than all later ones.
    costs(&measured, &fabric, arguments).await?;
    let little = costs(&measured, &fabric, arguments).await?;
    let rate = fill(&measured, &fabric, stored.saturating_sub(few), arguments.payload).await?;
    say::line(format_args!("  filled at {rate:.0} executions/s"));
    let much = costs(&measured, &fabric, arguments).await?;
    engine.stop().await;
    for (call, little, much) in [
        ("submit (commit)", little.submits, much.submits),
        ("claim (reserve)", little.claims, much.claims),
        ("complete (commit)", little.completes, much.completes),
        ("due", little.dues, much.dues),
    ] {
        let (little, much) = (Times::of(little), Times::of(much));
        let ratio = 100.0 * much.at(50).as_secs_f64() / little.at(50).as_secs_f64();
        say::line(format_args!("  {call}: {ratio:.1} % (before {little}; now {much})"));
    }
    Ok(())
}

/// A task in a lane of its own, so that what is left there is in nobody's way.
fn stored(payload: usize) -> anyhow::Result<CreateExecution> {
    let mut command = task(payload)?;
    command.lane_id = LaneId::parse("bench-stored")?;
    Ok(command)
}

/// Adds so many executions; how many a second.
pub(super) async fn fill(
    measured: &Measured,
    fabric: &Arc<dyn Fabric>,
    count: usize,
    payload: usize,
) -> anyhow::Result<f64> {
    let (fabrics, started) = (std::slice::from_ref(fabric), Instant::now());
    let waiting = stored(payload)?;
    let mut delayed = waiting.clone();
    delayed.delay_until = Some(measured.backend.ping().await? + LATER);
    submit(fabrics, SUBMITTERS, count / 2, &waiting).await?;
    submit(fabrics, SUBMITTERS, count - count / 2, &delayed).await?;
    Ok(count as f64 / started.elapsed().as_secs_f64())
}

async fn costs(measured: &Measured, fabric: &Arc<dyn Fabric>, arguments: &Arguments) -> anyhow::Result<Costs> {
    let (new, mut claim) = (stored(arguments.payload)?, claim(0, arguments.batch, 0)?);
    claim.want.lanes = vec![new.lane_id.clone()];
    let partitions: Vec<Partition> = PartitionCounts::default().all(Family::Flow).collect();
    let mut costs = Costs::default();
    for _ in 0..arguments.calls {
        let started = Instant::now();
        submit_batch(&**fabric, arguments.batch, &new).await?;
        let submitted = Instant::now();
        let tasks = fabric.claim(claim.clone()).await?;
        let claimed = Instant::now();
        anyhow::ensure!(tasks.len() == arguments.batch, "{} tasks were claimed", tasks.len());
        try_join_all(tasks.iter().map(|task| complete(&**fabric, task))).await?;
        let completed = Instant::now();
        let due = Due {
            partitions: partitions.clone(),
            limit: DUE_ITEMS,
        };
        measured.backend.due(due).await?;
        costs.submits.push(submitted - started);
        costs.claims.push(claimed - submitted);
        costs.completes.push(completed - claimed);
        costs.dues.push(completed.elapsed());
    }
    Ok(costs)
}
