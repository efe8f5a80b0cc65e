//! `ff serve`: the engine over HTTP, until it is told to stop.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use ff_core::partition::Family;
use ff_engine::Engine;
use ff_server::{Server, Tls};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::config::{Config, Durability, Given};
use crate::{open, say};

/// Serve an engine over HTTP.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The file with settings [default: ff.toml, if it is there]
    #[arg(long, env = "FF_CONFIG")]
    config: Option<PathBuf>,
    /// Print the settings that hold, without secrets, and stop
    #[arg(long)]
    print_config: bool,
    #[command(flatten)]
    given: Given,
}

/// Runs until it is told to stop.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let config = arguments.given.with_file(arguments.config.as_deref())?;
    if arguments.print_config {
        say::line(config.print()?.trim_end());
        return Ok(());
    }
    open_many_files();
    let tls = certificate(&config)?;
    let engine = start(&config).await?;
    let served = serve(&config, engine.clone(), tls).await;
    // Served to its end it has stopped already, and stopping twice costs nothing.
    engine.stop().await;
    served
}

/// Opens the store and starts the engine, and says in a line each what they are.
async fn start(config: &Config) -> anyhow::Result<Engine> {
    let opened = open::open(&config.store, &options(config))
        .await
        .context("the store cannot be used")?;
    say::line(format_args!("store: {}", opened.about));
    let [flow, budget, quota] = Family::ALL.map(|family| opened.counts.count(family));
    say::line(format_args!(
        "partitions: {flow} for executions, {budget} for budgets, {quota} for quotas"
    ));
    let engine = open::engine_with(opened.store, config.engine(opened.counts));
    let kid = engine.signing_kid().await.context("there is no signing key")?;
    say::line(format_args!("signing key: {kid}"));
    Ok(engine)
}

/// How the store is opened.
pub(crate) fn options(config: &Config) -> open::Options {
    open::Options {
        partitions: open::Partitions {
            flow: config.flow_partitions,
            budget: config.budget_partitions,
            quota: config.quota_partitions,
        },
        durability: match config.sqlite_durability {
            Durability::Full => ff_backend_sqlite::Durability::Full,
            Durability::Normal => ff_backend_sqlite::Durability::Normal,
        },
        feed_lines_max: config.events_max_per_partition,
        postgres_connections_max: config.postgres_connections_max,
        patience: Duration::from_millis(config.store_patience_ms),
    }
}

async fn serve(config: &Config, engine: Engine, tls: Option<Arc<Tls>>) -> anyhow::Result<()> {
    let has_keys = engine.has_keys().await?;
    let refused = ff_server::refuse_open_address(config.listen).filter(|_| !has_keys);
    if let Some(why) = &refused {
        anyhow::ensure!(config.insecure, "{why}");
    }
    say::line(match (has_keys, &refused) {
        (true, _) => "callers: whoever shows a key",
        (false, None) => "callers: whoever is on this machine, until the first key is made (ff key create)",
        (false, Some(_)) => "callers: EVERYBODY who reaches this address may do everything (--insecure)",
    });
    let listener = TcpListener::bind(config.listen)
        .await
        .with_context(|| format!("cannot listen on {}", config.listen))?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    say::line(format_args!("listening on {scheme}://{}", listener.local_addr()?));
    let renewing = tokio::spawn(renew_on_hangup(tls.clone()));
    let mut asked = Ok(());
    let stop = async {
        asked = told_to_stop().await;
        say::line("stopping");
    };
    ff_server::serve(&Server::new(engine, config.server()), listener, tls, stop).await;
    renewing.abort();
    asked
}

fn certificate(config: &Config) -> anyhow::Result<Option<Arc<Tls>>> {
    let (Some(certificate), Some(key)) = (&config.tls_cert, &config.tls_key) else {
        return Ok(None);
    };
    Ok(Some(Arc::new(Tls::load(certificate, key)?)))
}

/// Reads the certificate again whenever somebody sends SIGHUP.
async fn renew_on_hangup(tls: Option<Arc<Tls>>) -> anyhow::Result<()> {
    let mut hangups = signal(SignalKind::hangup())?;
    while hangups.recv().await.is_some() {
        match tls.as_ref().map(|tls| tls.reload()) {
            Some(Ok(())) => tracing::info!("the certificate was read again"),
            Some(Err(error)) => tracing::error!(%error, "the certificate stays as it was"),
            None => {}
        }
    }
    Ok(())
}

/// Completes when this process is to end: Ctrl-C, or whoever runs it says so.
pub(crate) async fn told_to_stop() -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        stop = tokio::signal::ctrl_c() => stop?,
        _ = terminate.recv() => {}
    }
    Ok(())
}

/// A connection is an open file: as many as the system lets us have.
pub(crate) fn open_many_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return;
    }
    if let Err(error) = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: maximum,
            maximum,
        },
    ) {
        tracing::warn!(%error, ?current, "only so many connections can be open at once");
    }
}
