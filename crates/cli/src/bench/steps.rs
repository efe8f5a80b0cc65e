//! S10: recorded steps. Every round of agents stands beside one of S1 with as many tasks as they have steps.

use std::sync::Arc;

use ff_backend::Backend;
use ff_core::command::claim::Task;
use ff_core::command::steps::{ReadSteps, RecordSteps, StepReport};
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::name::StepKey;
use ff_core::payload::Payload;
use ff_core::record::StepState;

use super::load::{LoadArguments, Loop};
use super::measured::{Measured, StoreArguments};
use super::output::{Beside, Output};
use super::reentry;
use super::throughput::{Amount, Round, median, round};
use crate::open;

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
    store: StoreArguments,
    #[command(flatten)]
    output: Output,
}

/// Runs the scenario and prints its figures.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let measured = Measured::open(&arguments.store).await?;
    let engine = open::engine(Arc::clone(&measured.backend) as Arc<dyn Backend>);
    let fabric: Arc<dyn Fabric> = Arc::new(engine.clone());
    let Arguments {
        agents,
        steps,
        load,
        output,
        ..
    } = *arguments;
    output.say(format_args!(
        "S10 on {}: {agents} agents of {steps} steps, {} bytes each, {} workers, batches of {}",
        measured.name, load.payload, load.workers, load.batch
    ));
    let mut ratios = Vec::new();
    for _ in 0..arguments.rounds {
        let tasks = agents * steps;
        let plain = round(
            &measured,
            &fabric,
            Loop::Calls,
            Amount {
                tasks,
                load,
                under: None,
            },
        )
        .await?;
        let amount = Amount {
            tasks: agents,
            load,
            under: None,
        };
        let recording = round(&measured, &fabric, Loop::Steps(steps), amount).await?;
        for id in &recording.executions {
            check_steps(&fabric, *id, steps).await?;
        }
        ratios.push(report(arguments, &plain, &recording));
        let beside = Beside::from([("S1", plain.rate(tasks))]);
        output.round(&recording.figures("s10", &measured, tasks, beside))?;
    }
    let ratio = 100.0 * median(&mut ratios);
    output.say(format_args!("  median: steps/s are {ratio:.1} % of S1's tasks/s"));
    reentry::run(&engine, output).await?;
    engine.stop().await;
    Ok(())
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

/// Prints a round of each; the steps a second as a share of the tasks.
fn report(arguments: &Arguments, plain: &Round, recording: &Round) -> f64 {
    let steps = arguments.agents * arguments.steps;
    let (tasks_rate, steps_rate) = (plain.rate(steps), recording.rate(steps));
    let used = &recording.used;
    // Beside its flushes an agent is submitted and completed, as every task is.
    let flushes = used.transactions.saturating_sub(2 * arguments.agents as u64);
    let flushes = flushes as f64 / steps as f64;
    let output = arguments.output;
    output.say(format_args!(
        "  {steps_rate:.0} steps/s, each recorded exactly once; S1: {tasks_rate:.0} tasks/s"
    ));
    output.say(format_args!("    per step: {flushes:.3} commits, {}", used.each(steps)));
    output.say(format_args!("    per task of S1: {}", plain.used.each(steps)));
    steps_rate / tasks_rate
}
