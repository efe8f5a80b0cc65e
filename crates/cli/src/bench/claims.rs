//! Claims from a lane in which very much waits that no worker may run, beside a lane in which nothing else does.

use std::sync::Arc;
use std::time::Instant;

use ff_backend::Backend;
use ff_core::capability::CapabilitySet;
use ff_core::command::claim::{Claim, Task};
use ff_core::fabric::Fabric;
use ff_core::id::ExecutionId;
use ff_core::name::LaneId;
use futures::future::try_join_all;

use super::left::Left;
use super::load::{LoadArguments, check_delivery, claim, complete};
use super::measured::{Measured, StoreArguments};
use super::submit::{submit, task};
use super::throughput::median;
use crate::{open, say};

/// Claims from a lane full of work that no worker may run, beside an empty one.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Executions in the lane whose capabilities no worker has
    #[arg(long, default_value_t = 10_000)]
    unmatched: usize,
    /// Tasks to claim in a round
    #[arg(long, default_value_t = 2_048)]
    tasks: usize,
    /// Rounds on each lane, in turn; the median counts
    #[arg(long, default_value_t = 21)]
    rounds: usize,
    #[command(flatten)]
    load: LoadArguments,
    #[command(flatten)]
    store: StoreArguments,
}

/// Capabilities that nobody has, each of them asked for by as many executions.
const MISSING: usize = 10;

/// Runs the scenario and prints its figures.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let measured = Measured::open(&arguments.store).await?;
    let engine = open::engine(Arc::clone(&measured.backend) as Arc<dyn Backend>);
    let fabric: Arc<dyn Fabric> = Arc::new(engine.clone());
    let (empty, crowded) = (LaneId::parse("bench-empty")?, LaneId::parse("bench-crowded")?);
    let (tasks, load) = (arguments.tasks, arguments.load);
    say::line(format_args!(
        "claims on {}: {tasks} tasks a round, {load}",
        measured.name
    ));
    crowd(&fabric, &crowded, arguments).await?;
    let (mut alone, mut among, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..arguments.rounds {
        let (empty, crowded) = (
            round(&fabric, &empty, arguments).await?,
            round(&fabric, &crowded, arguments).await?,
        );
        alone.push(empty);
        among.push(crowded);
        ratios.push(crowded / empty);
    }
    engine.stop().await;
    let (alone, among) = (median(&mut alone), median(&mut among));
    say::line(format_args!(
        "  {alone:.0} claims/s from a lane that is empty otherwise"
    ));
    say::line(format_args!(
        "  {among:.0} claims/s among {} executions that no worker matches",
        arguments.unmatched
    ));
    say::line(format_args!("  median: {:.1} % of it", 100.0 * median(&mut ratios)));
    Ok(())
}

/// Fills a lane with what nobody may run.
async fn crowd(fabric: &Arc<dyn Fabric>, lane: &LaneId, arguments: &Arguments) -> anyhow::Result<()> {
    for nth in 0..MISSING {
        let mut command = task(arguments.load.payload)?;
        command.lane_id = lane.clone();
        let missing = CapabilitySet::parse([format!("missing-{nth}")])?;
        command.policy.routing_requirements.required_capabilities = missing;
        submit(
            fabric,
            arguments.load.submitters,
            arguments.unmatched / MISSING,
            &command,
        )
        .await?;
    }
    Ok(())
}

/// How many tasks of a lane are claimed in a second. Only that is measured: they are submitted before and completed after it.
async fn round(fabric: &Arc<dyn Fabric>, lane: &LaneId, arguments: &Arguments) -> anyhow::Result<f64> {
    let Arguments { tasks, load, .. } = *arguments;
    let mut command = task(load.payload)?;
    command.lane_id = lane.clone();
    let submitted = submit(fabric, load.submitters, tasks, &command).await?;
    let (left, started) = (Left::new(tasks), Instant::now());
    let claimers = (0..load.workers).map(|number| {
        let mut claim = claim(number, load.batch, 1)?;
        claim.want.lanes = vec![lane.clone()];
        Ok(tokio::spawn(claim_all(Arc::clone(fabric), claim, Arc::clone(&left))))
    });
    let mut claimed = Vec::with_capacity(tasks);
    for claimer in claimers.collect::<anyhow::Result<Vec<_>>>()? {
        claimed.extend(claimer.await??);
    }
    let took = started.elapsed();
    try_join_all(claimed.iter().map(|task| complete(&**fabric, task))).await?;
    let claimed: Vec<ExecutionId> = claimed.iter().map(|task| task.execution_id).collect();
    check_delivery(&submitted, &claimed)?;
    Ok(tasks as f64 / took.as_secs_f64())
}

/// Claims until everything is claimed.
async fn claim_all(fabric: Arc<dyn Fabric>, claim: Claim, left: Arc<Left>) -> anyhow::Result<Vec<Task>> {
    let mut claimed = Vec::new();
    loop {
        let none_left = left.none();
        if left.count() == 0 {
            return Ok(claimed);
        }
        let tasks = tokio::select! {
            tasks = fabric.claim(claim.clone()) => tasks?,
            () = none_left => continue,
        };
        left.is_done(tasks.len());
        claimed.extend(tasks);
    }
}
