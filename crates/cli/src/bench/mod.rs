//! `ff bench`: scenarios on this machine, in process or through HTTP. Figures count only when every task was delivered exactly once, which
//! the run checks.

mod cancels;
mod flows;
mod idle;
mod limit;
mod load;
mod measured;
mod raw;
mod reentry;
mod steps;
mod through;
mod throughput;
mod times;
mod usage;
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
    /// S4: linear flows, with every edge in order
    S4(flows::Arguments),
    /// S8: what an engine without work costs
    S8(idle::Arguments),
    /// S10: recorded steps beside S1, and how soon a handler is behind a thousand of them again
    S10(steps::Arguments),
}

/// Runs one scenario and prints its figures.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    match arguments.scenario {
        Scenario::S1(arguments) => throughput::run(&arguments).await,
        Scenario::S2(arguments) => waits::run(&arguments).await,
        Scenario::S4(arguments) => flows::run(&arguments).await,
        Scenario::S8(arguments) => idle::run(&arguments).await,
        Scenario::S10(arguments) => steps::run(&arguments).await,
    }
}
