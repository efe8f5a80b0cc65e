//! The process of the agent, which its keeper starts. It ends with its keeper, and is killed where the demonstration wants it.

use std::io::Read;

use ff_sdk::{Client, Worker, secs};
use rustix::process::{Signal, getpid, kill_process};
use tokio::sync::oneshot;

use super::agent::{Fate, Said, agent};
use crate::say;

/// How long the agent waits for another process when its own is killed.
const LEASE_SECS: u64 = 2;

/// Run the agent of the demonstration.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The step after whose recording the process is killed
    #[arg(long)]
    dies_after: Option<String>,
}

/// Works until standard input is closed.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let fate = Fate {
        say: |said: &Said| {
            if let Ok(line) = serde_json::to_string(said) {
                say::line(line);
            }
        },
        dies_after: arguments.dies_after,
        die: || {
            // What is left then is what everybody has who was killed: nothing.
            let _ = kill_process(getpid(), Signal::KILL);
        },
    };
    let worker = Worker::new(Client::from_env()?)
        .name("demo-agent")
        .lease(secs(LEASE_SECS))
        .state(fate)
        .task(agent);
    worker.build()?.run_until(keeper_is_gone()).await?;
    Ok(())
}

/// Completes when nobody holds the other end of standard input.
async fn keeper_is_gone() {
    let (gone, is_gone) = oneshot::channel::<()>();
    // Not one of the runtime's: it would wait for the thread at the end.
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        drop(gone);
    });
    let _ = is_gone.await;
}
