//! The whole interface through a client and a server, over sockets of this machine: from afar nobody can tell the difference.

use std::sync::Arc;

use async_trait::async_trait;
use ff_core::caller::Caller;
use ff_core::fabric::Fabric;
use ff_core::time::Duration;
use ff_engine::Engine;
use ff_fabric_suite::Harness;
use ff_sdk::Client;
use ff_server::{Server, Settings, serve};

use crate::support::EngineHarness;

/// An engine behind servers, which end with it.
struct HttpHarness {
    inner: EngineHarness,
    fabric: Client,
}

impl HttpHarness {
    async fn over(inner: EngineHarness) -> Self {
        let fabric = served(&inner.engine, Caller::local());
        Self { inner, fabric }
    }
}

/// A client of a server for which everybody who asks is `caller`.
pub(crate) fn served(engine: &Engine, caller: Caller) -> Client {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    let settings = Settings {
        everybody: Some(caller),
        ..Settings::default()
    };
    let server = Server::new(engine.clone(), settings);
    tokio::spawn(async move { serve(&server, listener, None, std::future::pending()).await });
    Client::connect(format!("http://{address}")).open().unwrap()
}

#[async_trait]
impl Harness for HttpHarness {
    fn fabric(&self) -> Arc<dyn Fabric> {
        Arc::new(self.fabric.clone())
    }

    /// A lease that the caller shows is shown by its client.
    async fn fabric_for(&self, mut caller: Caller) -> Arc<dyn Fabric> {
        let held = caller.held.take();
        let client = served(&self.inner.engine, caller);
        Arc::new(held.map_or(client.clone(), |held| client.holding(held)))
    }

    async fn advance(&self, by: Duration) {
        self.inner.advance(by).await;
    }

    async fn settle(&self) {
        self.inner.settle().await;
    }
}

mod memory {
    use super::*;

    async fn make() -> HttpHarness {
        HttpHarness::over(EngineHarness::memory(|_| ())).await
    }

    ff_fabric_suite::fabric_suite!(make);
}

mod sqlite {
    use super::*;

    async fn make() -> HttpHarness {
        HttpHarness::over(EngineHarness::sqlite(|_| ())).await
    }

    ff_fabric_suite::fabric_suite!(make);
}

mod valkey {
    use super::*;

    async fn make() -> HttpHarness {
        HttpHarness::over(EngineHarness::valkey(|_| ()).await).await
    }

    ff_fabric_suite::fabric_suite!(make);
}
