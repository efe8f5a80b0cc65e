//! Opening: connect, check the servers, load the library, check the partition counts, listen.

mod address;
mod connect;
mod counts;
mod libraries;
mod obstacle;
mod server;

use std::sync::Arc;

pub(crate) use address::Addresses;
use connect::connect;
use counts::check_counts;
use libraries::{keep_in_use, note_use};
use obstacle::{Obstacle, patiently};

use crate::error::OpenError;
use crate::hints::{listen, subscribe};
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
