//! S1 while somebody holds a snapshot of the database open, so that nothing can be cleaned up, and after it has ended; beside the same without it.

use std::sync::Arc;
use std::time::Duration;

use ff_core::fabric::Fabric;
use tokio::time::sleep;

use super::load::LoadArguments;
use super::measured::{Measured, StoreArguments};
use super::postgres::Postgres;
use super::steady::Steady;
use super::submit::task;
use crate::say;

/// S1 while a snapshot is held open, and after it, beside S1 without one; on PostgreSQL.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How long the snapshot is held, in seconds
    #[arg(long, default_value_t = 60)]
    held: u64,
    /// How long after its end to look again, in seconds
    #[arg(long, default_value_t = 30)]
    after: u64,
    /// How long to look before and after it, in seconds
    #[arg(long, default_value_t = 30)]
    look: u64,
    #[command(flatten)]
    load: LoadArguments,
    #[command(flatten)]
    store: StoreArguments,
}

/// What is done in a second before, while and after a snapshot is held; or at these moments of a run without one.
struct Rates {
    before: f64,
    held: [f64; 3],
    after: f64,
}

impl Rates {
    fn held(&self) -> f64 {
        self.held.iter().sum::<f64>() / 3.0
    }
}

/// Runs the scenario and prints its figures.
///
/// A store that begins empty is slower after a minute than after a second, whoever holds a snapshot: the second run stands beside a first
/// one without, moment by moment.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let measured = Measured::open(&arguments.store).await?;
    let server = measured.postgres()?;
    let engine = measured.engine();
    let fabric: Arc<dyn Fabric> = Arc::new(engine.clone());
    say::line(format_args!(
        "S1 on {} without an end: {}",
        measured.name, arguments.load
    ));
    let without = measure(arguments, &fabric, None).await?;
    say::line(format_args!(
        "  without a snapshot: {:.0} tasks/s; {:.0}; {:.0}",
        without.before,
        without.held(),
        without.after
    ));
    let with = measure(arguments, &fabric, Some(server)).await?;
    say::line(format_args!(
        "  before it: {:.0} tasks/s\n  held for {} s: {:.0} tasks/s (by thirds: {:.0}, {:.0}, {:.0} tasks/s)\n  {} s after its end: {:.0} tasks/s",
        with.before,
        arguments.held,
        with.held(),
        with.held[0],
        with.held[1],
        with.held[2],
        arguments.after,
        with.after
    ));
    let share = |now: f64, then: f64| 100.0 * (now / with.before) / (then / without.before);
    say::line(format_args!(
        "  beside the run without: {:.1} % held, {:.1} % after",
        share(with.held(), without.held()),
        share(with.after, without.after)
    ));
    engine.stop().await;
    Ok(())
}

async fn measure(arguments: &Arguments, fabric: &Arc<dyn Fabric>, holder: Option<&Postgres>) -> anyhow::Result<Rates> {
    let load = arguments.load;
    let steady = Steady::start(fabric, load, &task(load.payload)?, None);
    let look = Duration::from_secs(arguments.look);
    // Starting up is not running.
    sleep(look / 2).await;
    let before = steady.rate_over(look).await;
    let snapshot = match holder {
        Some(server) => Some(server.snapshot().await?),
        None => None,
    };
    let mut held = [0.0; 3];
    for third in &mut held {
        *third = steady.rate_over(Duration::from_secs(arguments.held) / 3).await;
    }
    drop(snapshot);
    sleep(Duration::from_secs(arguments.after)).await;
    let after = steady.rate_over(look).await;
    steady.end().await?;
    Ok(Rates { before, held, after })
}
