//! S9: S1 on a store in which very much is stored, beside S1 on one that is empty, in turn.

use std::sync::Arc;

use ff_core::fabric::Fabric;
use ff_engine::Engine;

use super::load::{LoadArguments, Loop};
use super::measured::{Measured, StoreArguments};
use super::medians::Medians;
use super::output::{Beside, Figures, Output};
use super::stored::fill;
use super::throughput::{Amount, Round, round};
use crate::open::Address;

/// S9: S1 with very much stored, beside S1 with little.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Executions that are stored, one number after the other; one half waits in a lane, the other for its time
    #[arg(long, value_delimiter = ',', default_value = "1000000")]
    stored: Vec<usize>,
    /// Bytes of their inputs
    #[arg(long, default_value_t = 256)]
    stored_payload: usize,
    /// Tasks of a round of S1
    #[arg(long, default_value_t = 10_000)]
    tasks: usize,
    /// Rounds on each store, in turn, for each number
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// An empty store of the same kind; needed unless it is SQLite
    #[arg(long)]
    empty: Option<Address>,
    #[command(flatten)]
    load: LoadArguments,
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    output: Output,
}

/// A store with its engine.
struct Place {
    measured: Measured,
    engine: Engine,
    fabric: Arc<dyn Fabric>,
}

impl Place {
    async fn open(store: &StoreArguments) -> anyhow::Result<Self> {
        let measured = Measured::open(store).await?;
        let engine = measured.engine();
        let fabric = Arc::new(engine.clone());
        Ok(Self {
            measured,
            engine,
            fabric,
        })
    }

    async fn round(&self, amount: Amount) -> anyhow::Result<Round> {
        round(&self.measured, std::slice::from_ref(&self.fabric), Loop::Calls, amount).await
    }
}

/// Runs the scenario and prints its figures.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments {
        tasks, load, output, ..
    } = *arguments;
    anyhow::ensure!(
        arguments.store.store.is_some() == arguments.empty.is_some(),
        "--empty names a second store of the same kind as --store"
    );
    let empty = Place::open(&arguments.store.another(arguments.empty.clone())).await?;
    let full = Place::open(&arguments.store).await?;
    output.say(format_args!("s9 on {}: {tasks} tasks, {load}", full.measured.name));
    let amount = Amount::plain(tasks, load);
    let (mut stored, mut bytes) = (0, 0);
    for volume in &arguments.stored {
        let before = full.measured.stored_bytes().await?;
        let more = volume.saturating_sub(stored);
        fill(&full.measured, &full.fabric, more, arguments.stored_payload).await?;
        stored += more;
        // Rounds leave something, too: only what was filled in is counted.
        bytes += full.measured.stored_bytes().await?.saturating_sub(before);
        let mut medians = Medians::default();
        for _ in 0..arguments.rounds {
            let on_empty = empty.round(amount).await?;
            let on_full = full.round(amount).await?;
            let figures = Figures::of("s9", &full.measured.name, format!("{volume} stored"));
            let beside = Beside::from([("S1 on an empty store", on_empty.rate(tasks))]);
            let figures = on_full
                .told(figures, tasks)
                .with("stored_executions", stored as f64)
                .with("bytes_per_stored_execution", bytes as f64 / stored as f64)
                .with("empty_all_cpu_us_per_task", on_empty.used.each(tasks).all_cpu_us())
                .beside(beside);
            output.tell(&figures)?;
            medians.add(&figures);
        }
        output.say(medians);
    }
    empty.engine.stop().await;
    full.engine.stop().await;
    Ok(())
}
