//! S8: an engine without work, with parked claims.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ff_backend::Backend;
use ff_core::capability::CapabilitySet;
use ff_core::command::claim::{Claim, LaneOrder, Want};
use ff_core::fabric::Claims;
use ff_core::name::{LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_engine::Engine;

use super::counted::Counted;
use super::usage::cpu_time;
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
}

/// Runs the scenario and prints its figures.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let sqlite = open::store(&folder.path().join("bench.db"), ff_backend_sqlite::Durability::Full)?;
    let counted = Arc::new(Counted::new(sqlite));
    let engine = open::engine(Arc::clone(&counted) as Arc<dyn Backend>);
    let parked: Vec<_> = (0..arguments.parked)
        .map(|number| tokio::spawn(park(engine.clone(), number)))
        .collect();
    // Starting up is not idling.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let (started, cpu, calls) = (Instant::now(), cpu_time(), counted.calls());
    tokio::time::sleep(Duration::from_secs(arguments.seconds)).await;
    let seconds = started.elapsed().as_secs_f64();
    let calls = (counted.calls() - calls) as f64 / seconds;
    say::line(format_args!(
        "S8 on SQLite: {:.0} s without work, {} parked claims",
        seconds, arguments.parked
    ));
    say::line(format_args!("  {calls:.2} store calls per second"));
    if let Some((after, before)) = cpu_time().zip(cpu) {
        let share = (after - before).as_secs_f64() / seconds;
        say::line(format_args!("  {:.2} % of a core", share * 100.0));
    }
    parked.iter().for_each(tokio::task::JoinHandle::abort);
    engine.stop().await;
    Ok(())
}

async fn park(engine: Engine, number: usize) -> anyhow::Result<()> {
    let claim = Claim {
        namespace: Namespace::default_namespace(),
        worker: WorkerId::parse("bench")?,
        instance: WorkerInstanceId::parse(format!("bench-{number}"))?,
        incarnation: None,
        want: Want {
            lanes: vec![LaneId::default_lane()],
            lane_order: LaneOrder::Strict,
            capabilities: CapabilitySet::default(),
            max: 1,
            lease_ttl: None,
        },
        wait: ff_core::time::Duration::from_secs(30),
    };
    loop {
        engine.claim(claim.clone()).await?;
    }
}
