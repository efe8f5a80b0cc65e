//! `ff bench`: two scenarios on this machine, in process, on an embedded store. Figures count only when every task was
//! delivered exactly once, which the run checks.

mod counted;
mod idle;
mod throughput;
mod usage;

use ff_backend_sqlite::Durability;

/// Measure this machine.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    scenario: Scenario,
}

#[derive(clap::Subcommand)]
enum Scenario {
    /// S1: submit, claim and complete tasks with concurrent workers
    S1(throughput::Arguments),
    /// S8: what an engine without work costs
    S8(idle::Arguments),
}

/// When an acknowledged commit is on disk.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Sync {
    /// Before it is acknowledged
    Full,
    /// A little later
    Normal,
}

impl From<Sync> for Durability {
    fn from(sync: Sync) -> Self {
        match sync {
            Sync::Full => Durability::Full,
            Sync::Normal => Durability::Normal,
        }
    }
}

/// Runs one scenario and prints its figures.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    match arguments.scenario {
        Scenario::S1(arguments) => throughput::run(&arguments).await,
        Scenario::S8(arguments) => idle::run(&arguments).await,
    }
}
