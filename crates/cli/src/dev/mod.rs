//! `ff dev`: everything in one process, nothing to configure.

mod demo;
mod narrate;
mod worker;

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Context;
use ff_server::{Server, Settings, serve};
use tokio::sync::oneshot;

use crate::open::Address;
use crate::serve::told_to_stop;
use crate::{open, say};

/// Start an engine on an embedded store, with a worker that shows how it works.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Where the store is: sqlite:PATH, postgres://USER@HOST/DATABASE, valkey://HOST:PORT or memory:
    #[arg(long, env = "FF_DEV_STORE", default_value = ".ff/dev.db")]
    store: Address,
    /// The port to listen on, on this machine only
    #[arg(long, env = "FF_DEV_PORT", default_value_t = 7117)]
    port: u16,
    /// Stop when the demonstration is over instead of serving on
    #[arg(long)]
    exit: bool,
}

/// Runs until the demonstration is over, or until it is told to stop.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let opened = open::open(&arguments.store, &open::Options::default()).await?;
    let engine = open::engine(opened.store);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port));
    let listener = tokio::net::TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on {address}; choose another port with --port"))?;
    let address = listener.local_addr()?;
    say::line(format_args!("FlowFabric is running. Store: {}", arguments.store));
    let server = Server::new(engine.clone(), Settings::loopback());
    let (stop, stopped) = oneshot::channel::<()>();
    let served = tokio::spawn(async move {
        let stopped = async {
            // Whoever could say so is gone too when this fails.
            let _ = stopped.await;
        };
        serve(&server, listener, None, stopped).await;
    });

    let worker = tokio::spawn(worker::work(engine.clone()));
    let shown = tokio::select! {
        shown = demo::show(&engine) => shown,
        stop = told_to_stop() => stop,
    };
    if shown.is_ok() && !arguments.exit {
        demo::invite(address);
        told_to_stop().await?;
    }
    say::line("Stopping.");
    worker.abort();
    drop(stop);
    served.await?;
    shown
}
