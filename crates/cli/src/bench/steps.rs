//! S10: recorded steps. Every round of agents stands beside one of S1 with as many tasks as they have steps.

use std::sync::Arc;

use ff_core::command::claim::Task;
use ff_core::command::steps::{ReadSteps, RecordSteps, StepReport};
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::name::StepKey;
use ff_core::payload::Payload;
use ff_core::record::StepState;

use super::load::{LoadArguments, Loop};
use super::medians::Medians;
use super::output::Beside;
use super::reentry;
use super::run::{Run, RunArguments};
use super::throughput::{Amount, Round, round};

/// S10: agents that record every step by itself, beside S1; then a handler that starts again behind a thousand steps.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Agents to run in a round, one a task
    #[arg(long, default_value_t = 500)]
    agents: usize,
    /// Steps of each agent
    #[arg(long, default_value_t = 40)]
    steps: usize,
    /// Rounds of S1 and of agents, in turn; the median counts
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    #[command(flatten)]
    load: LoadArguments,
    #[command(flatten)]
    run: RunArguments,
}

/// Runs the scenario and prints its figures.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments {
        agents, steps, load, ..
    } = *arguments;
    let what = format!(
        "{agents} agents of {steps} steps, {} bytes each, {} workers, batches of {}",
        load.payload, load.workers, load.batch
    );
    let run = Run::begin("s10", &arguments.run, &what).await?;
    let (tasks, fabrics) = (agents * steps, std::slice::from_ref(&run.fabric));
    let mut medians = Medians::default();
    for _ in 0..arguments.rounds {
        let plain = round(&run.measured, fabrics, Loop::Calls, Amount::plain(tasks, load)).await?;
        let by = Loop::Steps(steps);
        let recording = round(&run.measured, fabrics, by, Amount::plain(agents, load)).await?;
        for id in &recording.executions {
            check_steps(&run.fabric, *id, steps).await?;
        }
        let figures = recording
            .told(run.figures("in process"), tasks)
            .with("commits_per_step", commits(&recording, agents) / tasks as f64)
            .beside(Beside::from([("S1", plain.rate(tasks))]));
        run.tell(&figures)?;
        medians.add(&figures);
    }
    run.say(medians);
    reentry::run(&run).await?;
    run.end().await;
    Ok(())
}

/// Flushes of steps: beside them an agent is submitted and completed, as every task is.
fn commits(recording: &Round, agents: usize) -> f64 {
    recording.used.transactions.saturating_sub(2 * agents as u64) as f64
}

/// Records steps one after the other, each by itself: what a worker does whose handler does one thing at a time.
pub(super) async fn record(fabric: &dyn Fabric, task: &Task, steps: usize, bytes: usize) -> anyhow::Result<()> {
    let output = Payload::binary(vec![7; bytes]);
    for number in 0..steps {
        let record = RecordSteps {
            fence: Some(task.fence),
            steps: vec![StepReport::done(key(number)?, Some(output.clone()))],
            progress: None,
        };
        fabric.record_steps(On::new(task.execution_id, record)).await?;
    }
    Ok(())
}

fn key(number: usize) -> anyhow::Result<StepKey> {
    Ok(StepKey::parse(format!("turn#{number}"))?)
}

/// Refuses figures of a run that lost a step or recorded one twice.
async fn check_steps(fabric: &Arc<dyn Fabric>, id: ExecutionId, steps: usize) -> anyhow::Result<()> {
    let (mut read, mut from_seq) = (0, None);
    loop {
        let ask = ReadSteps {
            from_seq,
            limit: Some(ff_core::limits::PAGE_MAX),
            outputs: false,
            forgotten: false,
        };
        let page = fabric.read_steps(On::new(id, ask)).await?;
        for step in page.items {
            let is_next = step.key == key(read)? && step.state == StepState::Done;
            anyhow::ensure!(is_next, "{id}: step {} stands where {} should", step.key, key(read)?);
            read += 1;
        }
        match page.next {
            Some(next) => from_seq = Some(next),
            None => break,
        }
    }
    anyhow::ensure!(read == steps, "{id}: {read} of {steps} steps are recorded");
    Ok(())
}
