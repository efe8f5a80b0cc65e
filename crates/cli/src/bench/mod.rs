//! `ff bench`: scenarios on this machine, in process or through HTTP. Figures count only when every task was delivered exactly once, which
//! the run checks.

mod flows;
mod idle;
mod load;
mod measured;
mod raw;
mod through;
mod throughput;
mod usage;

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
    /// S4: linear flows, with every edge in order
    S4(flows::Arguments),
    /// S8: what an engine without work costs
    S8(idle::Arguments),
}

/// Runs one scenario and prints its figures.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    match arguments.scenario {
        Scenario::S1(arguments) => throughput::run(&arguments).await,
        Scenario::S4(arguments) => flows::run(&arguments).await,
        Scenario::S8(arguments) => idle::run(&arguments).await,
    }
}
