//! S8: an engine without work: alone, and with parked claims. What was done before is still stored.

use std::sync::Arc;
use std::time::Duration;

use ff_core::fabric::Fabric;

use super::load::{LoadArguments, Loop, claim};
use super::run::{Run, RunArguments};
use super::throughput::{Amount, round};

/// S8: what an engine without work costs.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How long to look, in seconds
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Claims that wait for work meanwhile, one number after the other
    #[arg(long, value_delimiter = ',', default_value = "0,1000")]
    parked: Vec<usize>,
    /// Tasks that were done before and are kept
    #[arg(long, default_value_t = 10_000)]
    done: usize,
    #[command(flatten)]
    load: LoadArguments,
    #[command(flatten)]
    run: RunArguments,
}

/// Starting up is not idling, and neither is what work leaves behind.
const SETTLING: Duration = Duration::from_secs(2);

/// Runs the scenario and prints its figures.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments {
        seconds, done, load, ..
    } = *arguments;
    let run = Run::begin(
        "s8",
        &arguments.run,
        &format!("{seconds} s without work, {done} tasks done"),
    )
    .await?;
    let fabrics = std::slice::from_ref(&run.fabric);
    round(&run.measured, fabrics, Loop::Calls, Amount::plain(done, load)).await?;
    for parked in &arguments.parked {
        let waiting = (0..*parked).map(|number| tokio::spawn(park(Arc::clone(&run.fabric), number)));
        let waiting: Vec<_> = waiting.collect();
        tokio::time::sleep(SETTLING).await;
        let nothing = async {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            anyhow::Ok(())
        };
        let ((), took) = run.measure(nothing).await?;
        waiting.iter().for_each(tokio::task::JoinHandle::abort);
        let (used, seconds) = (took.used, took.time.as_secs_f64());
        let percent = |cpu: Duration| 100.0 * cpu.as_secs_f64() / seconds;
        let mut figures = run
            .figures(format!("parked: {parked}"))
            .with("store_calls_each_second", used.calls as f64 / seconds)
            .with("core_percent", percent(used.cpu));
        if let Some(commands) = used.valkey_commands {
            let primaries = run.measured.primaries() as f64;
            figures = figures.with(
                "commands_each_second_per_primary",
                commands as f64 / seconds / primaries,
            );
        }
        if let Some(cpu) = used.store_cpu {
            figures = figures.with("store_core_percent", percent(cpu));
        }
        run.tell(&figures)?;
    }
    run.end().await;
    Ok(())
}

async fn park(fabric: Arc<dyn Fabric>, number: usize) -> anyhow::Result<()> {
    let claim = claim(number, 1, 30)?;
    loop {
        fabric.claim(claim.clone()).await?;
    }
}
