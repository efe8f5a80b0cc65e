//! Opening: connect, check the servers, load the library, check the partition counts, listen.

mod address;
mod connect;
mod counts;
mod libraries;
mod obstacle;
mod server;

use std::collections::BTreeSet;
use std::sync::Arc;

pub(crate) use address::Addresses;
use connect::connect;
use counts::check_counts;
use ff_backend::opening::{Obstacle as _, patiently};
use libraries::{keep_in_use, note_use};
use obstacle::Obstacle;
use server::Server;

use crate::client::Nodes;
use crate::error::OpenError;
use crate::hints::{listen, subscribe};
use crate::library::LIBRARY;
use crate::options::Options;
use crate::shared::Shared;

/// Opens the store; waits for servers that start, load or fail over.
pub(crate) async fn open(options: &Options) -> Result<Arc<Shared>, OpenError> {
    let addresses = Addresses::parse(&options.urls)?;
    if addresses.need_tls() {
        // Somebody else may have chosen one already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    patiently(options.patience, || start(options, &addresses)).await
}

async fn start(options: &Options, addresses: &Addresses) -> Result<Arc<Shared>, Obstacle> {
    let client = connect(addresses).await?;
    // Messages know no databases, so the channel does.
    let channel = format!("flowfabric:{}:hints", addresses.database());
    let shared = Arc::new(Shared::new(client, options.counts, channel, options.feed_lines_max));
    shared.load_library().await?;
    check_counts(&shared).await?;
    note_use(&shared).await?;
    let pubsub = subscribe(addresses, &shared.channel).await?;
    tokio::spawn(listen(Arc::downgrade(&shared), addresses.clone(), pubsub));
    tokio::spawn(keep_in_use(Arc::downgrade(&shared)));
    Ok(shared)
}

/// The versions of the servers, and the library they have been given.
pub(crate) async fn about(shared: &Shared) -> Result<String, OpenError> {
    let versions = async || -> Result<BTreeSet<String>, Obstacle> {
        let answers = shared.client.run_on(Nodes::All, &redis::cmd("INFO")).await?;
        let versions = answers.into_iter().map(|info| Ok(Server::parse(&info?)?.version_text));
        versions.collect()
    };
    let versions = versions().await.map_err(Obstacle::into_error)?;
    let versions: Vec<_> = versions.iter().map(String::as_str).collect();
    Ok(format!("Valkey {}, library {}", versions.join(" and "), LIBRARY.name()))
}
