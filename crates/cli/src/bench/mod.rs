//! `ff bench`: scenarios on this machine, in process or through HTTP. Figures count only when every task was delivered exactly once, which
//! the run checks.

mod cancel;
mod cancels;
mod claims;
mod flows;
mod follow;
mod graph;
mod growth;
mod idle;
mod left;
mod limit;
mod load;
mod measured;
mod medians;
mod output;
mod pace;
mod postgres;
mod process;
mod raw;
mod reentry;
mod run;
mod server;
mod servers;
mod snapshot;
mod soak;
mod start;
mod steady;
mod steps;
mod stored;
mod submit;
mod through;
mod throughput;
mod times;
mod usage;
mod valkey;
mod waits;
mod worker;

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
    /// S2: how soon a handler goes on after a signal, and stops after a cancel
    S2(waits::Arguments),
    /// S3: how soon tasks are started under a steady load
    S3(pace::Arguments),
    /// S4: linear flows, with every edge in order
    S4(flows::Arguments),
    /// S5: claims from a lane full of work that no worker may run, beside an empty one
    #[command(alias = "claims")]
    S5(claims::Arguments),
    /// S6: how long it takes to cancel small and large flows
    S6(cancel::Arguments),
    /// S7: how soon a reader has what a task puts out, and what many readers cost the store
    S7(follow::Arguments),
    /// S8: what an engine without work costs
    S8(idle::Arguments),
    /// S9: S1 with very much stored, beside S1 with little
    S9(growth::Arguments),
    /// S10: recorded steps beside S1, and how soon a handler is behind a thousand of them again
    S10(steps::Arguments),
    /// How long a server takes until it is ready
    Start(start::Arguments),
    /// What calls cost when little and when much is stored
    Stored(stored::Arguments),
    /// S1 while a snapshot of the database is held open, and after it, beside S1 without one; on PostgreSQL
    Snapshot(snapshot::Arguments),
    /// Whether tables stay as large as they are under a steady load; on PostgreSQL
    Soak(soak::Arguments),
}

/// Runs one scenario and prints its figures.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    match arguments.scenario {
        Scenario::S1(arguments) => throughput::run(&arguments).await,
        Scenario::S2(arguments) => waits::run(&arguments).await,
        Scenario::S3(arguments) => pace::run(&arguments).await,
        Scenario::S4(arguments) => flows::run(&arguments).await,
        Scenario::S5(arguments) => claims::run(&arguments).await,
        Scenario::S6(arguments) => cancel::run(&arguments).await,
        Scenario::S7(arguments) => follow::run(&arguments).await,
        Scenario::S8(arguments) => idle::run(&arguments).await,
        Scenario::S9(arguments) => growth::run(&arguments).await,
        Scenario::S10(arguments) => steps::run(&arguments).await,
        Scenario::Start(arguments) => start::run(&arguments).await,
        Scenario::Stored(arguments) => stored::run(&arguments).await,
        Scenario::Snapshot(arguments) => snapshot::run(&arguments).await,
        Scenario::Soak(arguments) => soak::run(&arguments).await,
    }
}
