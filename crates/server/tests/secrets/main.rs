//! Whatever is logged, at whatever level, by whomever: no key, token, grant, lease id, payload or signing key is in it.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod log;
mod scene;
mod story;

use std::sync::Arc;

use ff_backend::Backend;
use ff_backend_sqlite::{Durability, Options, SqliteBackend};
use ff_backend_valkey::ValkeyBackend;
use ff_core::partition::PartitionCounts;
use ff_engine::{Config, Engine, TokioHost};
use ff_server::{Server, Settings};
use ff_valkey_server::Standalone;
use tokio::net::TcpListener;

use self::log::LOG;
use self::scene::Scene;
use self::story::PAYLOADS;

#[tokio::test(flavor = "multi_thread")]
async fn nothing_secret_is_logged_over_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        durability: Durability::Normal,
        ..Options::new(folder.path().join("store.db"))
    };
    nothing_is_logged(|| async { Arc::new(SqliteBackend::open(&options).unwrap()) as _ }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_secret_is_logged_over_valkey() {
    let server = Standalone::start(Default::default()).await;
    let options = ff_backend_valkey::Options::new(server.url());
    nothing_is_logged(|| async { Arc::new(ValkeyBackend::open(&options).await.unwrap()) as _ }).await;
}

/// Opens a store, has everything done over it, and looks at what was logged meanwhile.
async fn nothing_is_logged<F: Future<Output = Arc<dyn Backend>>>(store: impl FnOnce() -> F) {
    // Before the store is there: what it says of itself counts too.
    let log = &*LOG;
    let config = Config::new(PartitionCounts::default());
    let engine = Engine::new(store().await, Arc::new(TokioHost::new()), config);
    engine.start();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut scene = Scene {
        address: listener.local_addr().unwrap(),
        secrets: PAYLOADS.map(|payload| ("payload", payload.to_owned())).to_vec(),
        key: None,
    };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let server = Server::new(engine, Settings::loopback());
    let serving = tokio::spawn(async move {
        let stopped = async { drop(stopped.await) };
        ff_server::serve(&server, listener, None, stopped).await;
    });

    story::work_through(&mut scene).await;
    stop.send(()).unwrap();
    serving.await.unwrap();

    let log = log.text();
    for asked in ["create_execution", "callback", "follow_stream", "exchange"] {
        assert!(log.contains(asked), "the log does not say that {asked} was asked for");
    }
    for (what, secret) in &scene.secrets {
        let line = log.lines().find(|line| line.contains(secret.as_str()));
        assert_eq!(line, None, "a {what} is in the log");
    }
}
