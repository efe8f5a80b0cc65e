//! `ff dev`: everything in one process, nothing to configure.

mod demo;
mod narrate;
mod worker;

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Context;
use ff_server::Settings;

use crate::open::Address;
use crate::{open, say};

/// Start an engine on an embedded store, with a worker that shows how it works.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The database file, or the address of a Valkey server
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
    let store = open::backend(&arguments.store).await?;
    let engine = open::engine(store);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port));
    let listener = tokio::net::TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on {address}; choose another port with --port"))?;
    let address = listener.local_addr()?;
    say::line(format_args!("FlowFabric is running. Store: {}", arguments.store));
    let router = ff_server::router(engine.clone(), Settings::loopback());
    let server = tokio::spawn(async move { axum::serve(listener, router).await });

    let worker = tokio::spawn(worker::work(engine.clone()));
    let shown = tokio::select! {
        shown = demo::show(&engine) => shown,
        stop = tokio::signal::ctrl_c() => stop.map_err(Into::into),
    };
    if shown.is_ok() && !arguments.exit {
        demo::invite(address);
        tokio::signal::ctrl_c().await?;
    }
    say::line("Stopping.");
    worker.abort();
    engine.stop().await;
    server.abort();
    shown
}
