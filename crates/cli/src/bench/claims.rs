//! S5: claims from a lane in which very much waits that no worker may run, beside a lane in which nothing else does.

use std::sync::Arc;

use ff_core::capability::CapabilitySet;
use ff_core::command::claim::{Claim, Task};
use ff_core::command::submit::CreateExecution;
use ff_core::fabric::Fabric;
use ff_core::id::ExecutionId;
use ff_core::name::LaneId;
use futures::future::try_join_all;

use super::left::Left;
use super::load::{LoadArguments, check_delivery, claim, complete};
use super::medians::Medians;
use super::output::Beside;
use super::run::{Run, RunArguments, Took};
use super::submit::{submit, task};

/// S5: claims from a lane full of work that no worker may run, beside an empty one.
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
    run: RunArguments,
}

/// Capabilities that nobody has, each of them asked for by as many executions.
const MISSING: usize = 10;
/// The one that workers have and their tasks ask for.
const CAPABILITY: &str = "bench";

/// Runs the scenario and prints its figures.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments {
        tasks, load, unmatched, ..
    } = *arguments;
    let run = Run::begin("s5", &arguments.run, &format!("{tasks} tasks a round, {load}")).await?;
    let (empty, crowded) = (LaneId::parse("bench-empty")?, LaneId::parse("bench-crowded")?);
    crowd(&run.fabric, &crowded, arguments).await?;
    let mut medians = Medians::default();
    for _ in 0..arguments.rounds {
        let alone = claimed(&run, &empty, arguments).await?;
        let among = claimed(&run, &crowded, arguments).await?;
        let figures = run
            .figures(format!("among {unmatched} unmatched"))
            .done(tasks, among.time)
            .using(among.used.each(tasks))
            .with("empty_all_cpu_us_per_task", alone.used.each(tasks).all_cpu_us())
            .beside(Beside::from([(
                "an empty lane",
                tasks as f64 / alone.time.as_secs_f64(),
            )]));
        run.tell(&figures)?;
        medians.add(&figures);
    }
    run.say(medians);
    run.end().await;
    Ok(())
}

/// Fills a lane with what nobody may run.
async fn crowd(fabric: &Arc<dyn Fabric>, lane: &LaneId, arguments: &Arguments) -> anyhow::Result<()> {
    let fabrics = std::slice::from_ref(fabric);
    for nth in 0..MISSING {
        let command = routed(lane, &format!("missing-{nth}"), arguments)?;
        let tasks = arguments.unmatched / MISSING;
        submit(fabrics, arguments.load.submitters, tasks, &command).await?;
    }
    Ok(())
}

/// A task that only a worker with a capability may run.
fn routed(lane: &LaneId, capability: &str, arguments: &Arguments) -> anyhow::Result<CreateExecution> {
    let mut command = task(arguments.load.payload)?;
    command.lane_id = lane.clone();
    command.policy.routing_requirements.required_capabilities = CapabilitySet::parse([capability])?;
    Ok(command)
}

/// What it takes to claim tasks from a lane. Only that is measured: they are submitted before and completed after it.
async fn claimed(run: &Run, lane: &LaneId, arguments: &Arguments) -> anyhow::Result<Took> {
    let Arguments { tasks, load, .. } = *arguments;
    let command = routed(lane, CAPABILITY, arguments)?;
    let fabrics = std::slice::from_ref(&run.fabric);
    let submitted = submit(fabrics, load.submitters, tasks, &command).await?;
    let work = async {
        let left = Left::new(tasks);
        let claimers = (0..load.workers).map(|number| {
            let mut claim = claim(number, load.batch, 1)?;
            claim.want.lanes = vec![lane.clone()];
            claim.want.capabilities = CapabilitySet::parse([CAPABILITY])?;
            Ok(tokio::spawn(claim_all(
                Arc::clone(&run.fabric),
                claim,
                Arc::clone(&left),
            )))
        });
        let mut claimed = Vec::with_capacity(tasks);
        for claimer in claimers.collect::<anyhow::Result<Vec<_>>>()? {
            claimed.extend(claimer.await??);
        }
        anyhow::Ok(claimed)
    };
    let (claimed, took) = run.measure(work).await?;
    try_join_all(claimed.iter().map(|task| complete(&*run.fabric, task))).await?;
    let claimed: Vec<ExecutionId> = claimed.iter().map(|task| task.execution_id).collect();
    check_delivery(&submitted, &claimed)?;
    Ok(took)
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
