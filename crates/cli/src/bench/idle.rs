//! S8: an engine without work, with parked claims.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ff_backend::Backend;
use ff_core::fabric::Fabric;
use ff_engine::Engine;

use super::load::claim;
use super::measured::{Measured, StoreArguments};
use crate::{open, say};

/// S8: what an engine without work costs.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How long to look, in seconds
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Claims that wait for work meanwhile
    #[arg(long, default_value_t = 1_000)]
    parked: usize,
    #[command(flatten)]
    store: StoreArguments,
}

/// Runs the scenario and prints its figures.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let measured = Measured::open(&arguments.store).await?;
    let engine = open::engine(Arc::clone(&measured.backend) as Arc<dyn Backend>);
    let parked: Vec<_> = (0..arguments.parked)
        .map(|number| tokio::spawn(park(engine.clone(), number)))
        .collect();
    // Starting up is not idling.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let (started, before) = (Instant::now(), measured.usage().await?);
    tokio::time::sleep(Duration::from_secs(arguments.seconds)).await;
    let seconds = started.elapsed().as_secs_f64();
    let used = measured.usage().await?.since(before);
    say::line(format_args!(
        "S8 on {}: {seconds:.0} s without work, {} parked claims",
        measured.name, arguments.parked
    ));
    say::line(format_args!(
        "  {:.2} store calls per second",
        used.calls as f64 / seconds
    ));
    say::line(format_args!(
        "  {:.2} % of a core",
        100.0 * used.cpu.as_secs_f64() / seconds
    ));
    if let Some(commands) = used.valkey_commands {
        say::line(format_args!(
            "  {:.2} Valkey commands per second, those inside functions too",
            commands as f64 / seconds
        ));
    }
    if let Some(cpu) = used.store_cpu {
        say::line(format_args!(
            "  {:.2} % of a core for the store",
            100.0 * cpu.as_secs_f64() / seconds
        ));
    }
    parked.iter().for_each(tokio::task::JoinHandle::abort);
    engine.stop().await;
    Ok(())
}

async fn park(engine: Engine, number: usize) -> anyhow::Result<()> {
    let claim = claim(number, 1, 30)?;
    loop {
        engine.claim(claim.clone()).await?;
    }
}
