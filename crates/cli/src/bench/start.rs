//! How long a server takes from its start until it is ready, on a store that was made before.

use super::measured::StoreArguments;
use super::output::{Figures, Output};
use super::server::Server;

/// How long a server takes until it is ready.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Starts, one after the other
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    output: Output,
}

/// Runs the scenario and prints its figures.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (name, store) = arguments.store.for_servers(folder.path());
    arguments.output.say(format_args!("a server starts on {name}"));
    // The first one makes the store.
    Server::start(&store).await?.end().await?;
    for _ in 0..arguments.rounds {
        let server = Server::start(&store).await?;
        let millis = server.ready_after.as_secs_f64() * 1e3;
        let figures = Figures::of("start", name, "in process");
        arguments.output.tell(&figures.with("ready_ms", millis))?;
        server.end().await?;
    }
    Ok(())
}
