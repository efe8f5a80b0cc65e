//! Valkey: one server, and a cluster.

mod cluster;
mod power;
mod standalone;

use std::sync::Arc;

use ff_backend::Backend;
use ff_backend_valkey::{Options, ValkeyBackend};

/// The store at these addresses.
async fn open(urls: Vec<String>) -> Arc<dyn Backend> {
    let options = Options {
        urls,
        ..Options::new("")
    };
    Arc::new(ValkeyBackend::open(&options).await.unwrap())
}
