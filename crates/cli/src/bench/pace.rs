//! S3: how soon tasks are started when they come at a steady pace, at several shares of what S1 does in the same run.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ff_core::command::submit::CreateExecution;
use ff_core::fabric::Fabric;
use ff_core::id::ExecutionId;
use tokio::time::{MissedTickBehavior, interval};

use super::load::{LoadArguments, Loop, Workers, check_delivery};
use super::run::{Run, RunArguments};
use super::submit::{submit_batch, task};
use super::throughput::{Amount, round};
use super::times::Times;

/// S3: how soon tasks are started under a steady load.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Shares of what S1 does, in percent, one after the other
    #[arg(long, value_delimiter = ',', default_value = "50")]
    percent: Vec<u32>,
    /// How long each of them goes on, in seconds
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Tasks of the round of S1 before them
    #[arg(long, default_value_t = 20_000)]
    tasks: usize,
    /// Rounds of all of it
    #[arg(long, default_value_t = 1)]
    rounds: usize,
    #[command(flatten)]
    load: LoadArguments,
    #[command(flatten)]
    run: RunArguments,
}

/// Tasks come this often, as many at once as the pace wants.
const EVERY: Duration = Duration::from_millis(5);

/// Runs the scenario and prints its figures.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { load, tasks, .. } = *arguments;
    let what = format!("a steady pace of {:?} % of S1, {load}", arguments.percent);
    let run = Run::begin("s3", &arguments.run, &what).await?;
    for _ in 0..arguments.rounds {
        let amount = Amount::plain(tasks, load);
        let most = round(&run.measured, std::slice::from_ref(&run.fabric), Loop::Calls, amount)
            .await?
            .rate(tasks);
        for percent in &arguments.percent {
            let pace = most * f64::from(*percent) / 100.0;
            let ((waits, tasks), took) = run.measure(paced(&run.fabric, load, pace, arguments.seconds)).await?;
            let figures = run
                .figures(format!("{percent} % of S1"))
                .done(tasks, took.time)
                .using(took.used.each(tasks))
                .with("load_percent", f64::from(*percent))
                .with("offered_per_second", pace);
            let slowest = waits.at(99).as_secs_f64() / waits.at(50).as_secs_f64();
            run.tell(&figures.times("start", &waits).with("start_p99_to_p50", slowest))?;
        }
    }
    run.end().await;
    Ok(())
}

/// How long each task waited from its submission until a worker had it.
async fn paced(
    fabric: &Arc<dyn Fabric>,
    load: LoadArguments,
    pace: f64,
    seconds: f64,
) -> anyhow::Result<(Times, usize)> {
    let (at_once, every) = steps(pace);
    let turns = whole((pace * seconds / at_once as f64).ceil());
    // What comes before finds everything cold.
    let warm = Instant::now() + Duration::from_secs_f64(seconds / 10.0);
    let workers = Workers::start(std::slice::from_ref(fabric), Loop::Calls, load, turns * at_once);
    let (mut ticks, command) = (interval(every), task(load.payload)?);
    // Who comes too late is late: the pace is made up for, as it is where tasks come from elsewhere.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut submitting = Vec::with_capacity(turns);
    for _ in 0..turns {
        ticks.tick().await;
        submitting.push(tokio::spawn(submit_at(Arc::clone(fabric), at_once, command.clone())));
    }
    let mut asked = HashMap::with_capacity(turns * at_once);
    for submitted in submitting {
        let (at, ids) = submitted.await??;
        asked.extend(ids.into_iter().map(|id| (id, at)));
    }
    let done = workers.done().await?;
    let submitted: Vec<ExecutionId> = asked.keys().copied().collect();
    let completed: Vec<ExecutionId> = done.iter().map(|done| done.id).collect();
    check_delivery(&submitted, &completed)?;
    let waits = done
        .iter()
        .filter(|done| asked[&done.id] >= warm)
        .map(|done| done.claimed.saturating_duration_since(asked[&done.id]));
    Ok((Times::of(waits.collect()), completed.len()))
}

/// How many tasks come at once, and how often, for so many a second.
fn steps(pace: f64) -> (usize, Duration) {
    let at_once = (pace * EVERY.as_secs_f64()).round().max(1.0);
    (whole(at_once), Duration::from_secs_f64(at_once / pace))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a small whole number"
)]
fn whole(number: f64) -> usize {
    number as usize
}

async fn submit_at(
    fabric: Arc<dyn Fabric>,
    count: usize,
    command: CreateExecution,
) -> anyhow::Result<(Instant, Vec<ExecutionId>)> {
    let asked = Instant::now();
    Ok((asked, submit_batch(&*fabric, count, &command).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_come_as_often_as_the_pace_wants() {
        assert_eq!(steps(4_000.0), (20, Duration::from_millis(5)));
        assert_eq!(steps(50.0), (1, Duration::from_millis(20)));
    }
}
