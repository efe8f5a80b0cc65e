//! S1 while somebody holds a snapshot of the database open, so that nothing can be cleaned up, and after it has ended.

use std::sync::Arc;
use std::time::Duration;

use ff_backend::Backend;
use ff_core::fabric::Fabric;
use tokio::time::sleep;

use super::load::LoadArguments;
use super::measured::{Measured, StoreArguments};
use super::steady::Steady;
use super::submit::task;
use crate::{open, say};

/// S1 while a snapshot is held open, and after it; on PostgreSQL.
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

/// Runs the scenario and prints its figures.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let measured = Measured::open(&arguments.store).await?;
    let server = measured.postgres()?;
    let engine = open::engine(Arc::clone(&measured.backend) as Arc<dyn Backend>);
    let fabric: Arc<dyn Fabric> = Arc::new(engine.clone());
    let load = arguments.load;
    say::line(format_args!("S1 on {} without an end: {load}", measured.name));
    let steady = Steady::start(&fabric, load, &task(load.payload)?, None);
    let look = Duration::from_secs(arguments.look);
    // Starting up is not running.
    sleep(look / 2).await;
    let before = steady.rate_over(look).await;
    say::line(format_args!("  before: {before:.0} tasks/s"));
    let share = |rate: f64| 100.0 * rate / before;
    let snapshot = server.snapshot().await?;
    let mut thirds = [0.0; 3];
    for third in &mut thirds {
        *third = steady.rate_over(Duration::from_secs(arguments.held) / 3).await;
    }
    let held = thirds.iter().sum::<f64>() / 3.0;
    drop(snapshot);
    say::line(format_args!(
        "  a snapshot held for {} s: {held:.0} tasks/s, {:.1} % (by thirds: {:.0}, {:.0}, {:.0} tasks/s)",
        arguments.held,
        share(held),
        thirds[0],
        thirds[1],
        thirds[2]
    ));
    sleep(Duration::from_secs(arguments.after)).await;
    let after = steady.rate_over(look).await;
    say::line(format_args!(
        "  {} s after its end: {after:.0} tasks/s, {:.1} %",
        arguments.after,
        share(after)
    ));
    steady.end().await?;
    engine.stop().await;
    Ok(())
}
