//! A load that goes on for long: whether tables stay as large as they are, and what is dead in them is cleaned up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ff_core::fabric::Fabric;
use ff_core::policy::Retention;
use tokio::time::interval;

use super::load::LoadArguments;
use super::measured::{Measured, StoreArguments};
use super::postgres::{Postgres, Table};
use super::steady::Steady;
use super::submit::task;
use crate::say;

/// Whether tables stay as large as they are under a steady load; on PostgreSQL.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How long it goes on
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// Tasks a second
    #[arg(long, default_value_t = 500.0)]
    rate: f64,
    /// How long a task is kept once it is done, in seconds
    #[arg(long, default_value_t = 10)]
    retention: u64,
    #[command(flatten)]
    load: LoadArguments,
    #[command(flatten)]
    store: StoreArguments,
}

/// Between two looks at the tables.
const PAUSE: Duration = Duration::from_secs(2);
/// How much larger the last third may be than the one before it.
const GROWTH_MAX: f64 = 1.1;
/// Tables that are shown one by one.
const SHOWN: usize = 8;
const MIB: f64 = 1024.0 * 1024.0;

/// What was seen of tables on average.
#[derive(Clone, Copy, Default)]
struct Mean {
    dead_rows: f64,
    bytes: f64,
}

/// A part of the run: its tables, by their names.
type Third = BTreeMap<String, Mean>;

/// Runs the scenario and prints its figures; fails if tables grow.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let measured = Measured::open(&arguments.store).await?;
    let server = measured.postgres()?;
    let engine = measured.engine();
    let fabric: Arc<dyn Fabric> = Arc::new(engine.clone());
    let Arguments {
        rate, retention, load, ..
    } = *arguments;
    let minutes = Duration::from_secs_f64(60.0 * arguments.minutes);
    say::line(format_args!(
        "soak on {}: {rate} tasks/s for {} s, each kept for {retention} s, {load}",
        measured.name,
        minutes.as_secs()
    ));
    let mut command = task(load.payload)?;
    command.policy.retention = Some(Retention::For(ff_core::time::Duration::from_secs(retention)));
    let steady = Steady::start(&fabric, load, &command, Some(rate));
    let started = Instant::now();
    let samples = samples(server, minutes).await?;
    let done = steady.done();
    let reached = done as f64 / started.elapsed().as_secs_f64();
    steady.end().await?;
    engine.stop().await;
    say::line(format_args!("  {reached:.0} tasks/s, each delivered exactly once"));
    let events: u64 = samples
        .last()
        .into_iter()
        .flatten()
        .filter(|it| is_events(it))
        .map(|it| it.bytes)
        .sum();
    say::line(format_args!(
        "  events, which are kept for a day and not counted here: {:.0} bytes a task",
        events as f64 / done as f64
    ));
    let thirds: Vec<Third> = samples.chunks(samples.len().div_ceil(3).max(1)).map(means).collect();
    let [first, second, last] = &thirds[..] else {
        anyhow::bail!("{} looks at the tables are too few", samples.len());
    };
    report([first, second, last]);
    let (before, now) = (total(second), total(last));
    let (dead, bytes) = (now.dead_rows / before.dead_rows, now.bytes / before.bytes);
    say::line(format_args!(
        "  the last third beside the second: {:.1} % dead rows, {:.1} % of the size",
        100.0 * dead,
        100.0 * bytes
    ));
    anyhow::ensure!(dead <= GROWTH_MAX, "dead rows are not cleaned up as fast as they come");
    anyhow::ensure!(bytes <= GROWTH_MAX, "tables grow");
    Ok(())
}

/// What the tables are like, look by look.
async fn samples(server: &Postgres, time: Duration) -> anyhow::Result<Vec<Vec<Table>>> {
    let (mut ticks, started) = (interval(PAUSE), Instant::now());
    let mut samples = Vec::new();
    while started.elapsed() < time {
        ticks.tick().await;
        samples.push(server.tables().await?);
    }
    Ok(samples)
}

/// Whether it is a segment of the feed, `feed_7`.
fn is_events(table: &Table) -> bool {
    let segment = table.name.strip_prefix("feed_");
    segment.is_some_and(|number| number.parse::<u32>().is_ok())
}

fn means(samples: &[Vec<Table>]) -> Third {
    let mut third = Third::new();
    for table in samples.iter().flatten().filter(|table| !is_events(table)) {
        let mean = third.entry(table.name.clone()).or_default();
        mean.dead_rows += table.dead_rows as f64 / samples.len() as f64;
        mean.bytes += table.bytes as f64 / samples.len() as f64;
    }
    third
}

fn total(third: &Third) -> Mean {
    third.values().fold(Mean::default(), |sum, mean| Mean {
        dead_rows: sum.dead_rows + mean.dead_rows,
        bytes: sum.bytes + mean.bytes,
    })
}

/// Prints the largest tables and all together, third by third.
fn report(thirds: [&Third; 3]) {
    let line = |name: &str, means: [Mean; 3]| {
        let shown = means.map(|mean| format!("{:>9.0} dead {:>8.1} MiB", mean.dead_rows, mean.bytes / MIB));
        say::line(format_args!("  {name:<14}{}", shown.join("  |")));
    };
    let mut names: Vec<&String> = thirds[2].keys().collect();
    names.sort_by(|a, b| thirds[2][*b].bytes.total_cmp(&thirds[2][*a].bytes));
    for name in names.into_iter().take(SHOWN) {
        line(name, thirds.map(|third| third.get(name).copied().unwrap_or_default()));
    }
    line("all tables", thirds.map(total));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, dead_rows: u64, bytes: u64) -> Table {
        let name = name.to_owned();
        Table { name, dead_rows, bytes }
    }

    #[test]
    fn events_are_left_out_of_the_means() {
        let samples = [
            vec![
                table("due", 10, 100),
                table("feed_3", 0, 7_000),
                table("feed_trimmed", 0, 8),
            ],
            vec![
                table("due", 30, 300),
                table("feed_3", 0, 9_000),
                table("feed_trimmed", 0, 8),
            ],
        ];
        let sum = total(&means(&samples));
        assert_eq!((sum.dead_rows, sum.bytes), (20.0, 208.0));
    }
}
