//! `ff dev`: everything in one process, nothing to configure.
//!
//! | where | what |
//! |---|---|
//! | `listen`, `engine` | where it listens, and what it runs on |
//! | `banner`, `voice`, `names`, `narrate` | what the terminal shows |
//! | `demo/` | the demonstration, with a worker that is killed on the way |
//! | `workers/` | your workers: started, their logs told, restarted when a file changes |

mod banner;
mod demo;
mod engine;
mod listen;
mod names;
mod narrate;
mod voice;
mod workers;

use std::path::PathBuf;
use std::time::Instant;

use ff_sdk::Client;

use self::banner::Shown;
use self::demo::Demo;
use self::narrate::Narrator;
use self::voice::Voice;
use self::workers::Workers;
use crate::open::Address;
use crate::say;
use crate::serve::told_to_stop;

pub(crate) use demo::process::{Arguments as DemoWorker, run as demo_worker};

/// Where `ff` looks for a server.
const PORT: u16 = 7117;

/// Start an engine on an embedded store, with a worker that shows how it works.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Where the store is: sqlite:PATH, postgres://USER@HOST/DATABASE, valkey://HOST:PORT or memory:
    #[arg(long, env = "FF_DEV_STORE", default_value = ".ff/dev.db", hide_env_values = true)]
    store: Address,
    /// Keep everything in this process, and forget it at the end
    #[arg(long)]
    memory: bool,
    /// Let time pass only when a test says so, over /v1/test; with --memory. There is no demonstration
    #[arg(long)]
    virtual_clock: bool,
    /// The port to listen on, on this machine only; 0: any [default: 7117, or the next that is free]
    #[arg(long, env = "FF_DEV_PORT")]
    port: Option<u16>,
    /// No demonstration
    #[arg(long)]
    empty: bool,
    /// Stop when the demonstration is over instead of serving on
    #[arg(long, conflicts_with = "workers")]
    exit: bool,
    /// A command that is a worker, with the server's address in FF_URL: it is started, and again when a source file changes.
    /// May be given several times; the demonstration is left out
    #[arg(long = "worker", value_name = "COMMAND")]
    workers: Vec<String>,
    /// A file or folder whose changes start the workers again; may be given several times [default: the source files
    /// in the working directory]. What .gitignore names is left out, as are .git, target, node_modules and the like
    #[arg(long, value_name = "PATH")]
    watch: Vec<PathBuf>,
}

/// Runs until the demonstration is over, or until it is told to stop.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let began = Instant::now();
    let store = if arguments.memory {
        Address::Memory
    } else {
        arguments.store
    };
    let opened = engine::open(&store, arguments.virtual_clock).await?;
    let listener = listen::listen(arguments.port).await?;
    let (shown, voice) = (Shown::new(listener.local_addr()?), Voice::of_stdout());
    let now = opened.engine.ping().await?;
    let client = Client::local(opened.engine.clone());
    let narrator = Narrator::start(client.clone(), now, shown.clone(), voice).await?;
    let serving = opened.serve(listener);
    shown.greet(&store, began.elapsed());

    let has_demo = !arguments.empty && !arguments.virtual_clock;
    let demo = if has_demo {
        Some(Demo::start(client, &shown, voice)?)
    } else {
        None
    };
    let workers = Workers::start(&arguments.workers, &arguments.watch, &shown)?;
    let shows = async {
        if let Some(demo) = demo.as_ref().filter(|_| workers.is_empty()) {
            demo.show(&narrator).await?;
        }
        if !arguments.exit {
            shown.invite(has_demo && workers.is_empty());
            std::future::pending::<()>().await;
        }
        Ok(())
    };
    let ended = tokio::select! {
        ended = shows => ended,
        stop = told_to_stop() => stop,
    };
    say::line("Stopping.");
    workers.stop().await;
    if let Some(demo) = demo {
        demo.stop().await;
    }
    serving.stop().await?;
    ended
}
