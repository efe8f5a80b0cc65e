//! Opening: what is refused, what is waited for, and what is found.

use std::time::Duration;

use ff_backend::Backend;
use ff_backend::hint::Hint;
use ff_backend::settings::{Expected, SettingsOp, SettingsReply};
use ff_backend_valkey::{OpenError, Options, ValkeyBackend};
use ff_core::partition::PartitionCounts;
use ff_valkey_server::{Cluster, Options as ServerOptions, Server, Standalone};
use futures::future::join_all;
use serde_json::json;
use tokio::time::{Instant, timeout};

/// Longer than anything here takes, shorter than the patience of a store by default.
const SOON: Duration = Duration::from_secs(20);

async fn refusal(options: &Options) -> OpenError {
    match ValkeyBackend::open(options).await {
        Ok(_) => panic!("the store was opened"),
        Err(error) => error,
    }
}

fn impatient(url: impl Into<String>) -> Options {
    Options {
        patience: Duration::from_millis(300),
        ..Options::new(url)
    }
}

fn at(server: &Server, database: u32) -> String {
    format!("{}{database}", server.url())
}

fn counts(flow: u16) -> PartitionCounts {
    PartitionCounts::new(flow, 8, 8).unwrap()
}

fn put(key: &str) -> SettingsOp {
    SettingsOp::Put {
        key: key.to_owned(),
        value: Some(json!(key)),
        expected: Expected::Anything,
        ttl: None,
    }
}

async fn keys(store: &ValkeyBackend) -> Vec<String> {
    let everything = SettingsOp::List {
        prefix: String::new(),
        after: None,
        limit: 100,
    };
    match store.settings(vec![everything]).await.unwrap().remove(0) {
        SettingsReply::Page(settings) => settings.into_iter().map(|setting| setting.key).collect(),
        other => panic!("a list is a page, got {other:?}"),
    }
}

async fn libraries(server: &Server) -> Vec<String> {
    let listed = server.ask("FUNCTION LIST").await;
    let mut names: Vec<String> = listed
        .array()
        .iter()
        .map(|library| library.array()[1].text().to_owned())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_wrong_password_fails_at_once_and_is_not_repeated() {
    let server = Standalone::start(ServerOptions::default().password("correct-horse")).await;
    let port = server.port();
    for url in [
        format!("redis://:battery-staple@127.0.0.1:{port}/"),
        format!("redis://battery-staple:battery-staple@127.0.0.1:{port}/"),
        format!("redis://127.0.0.1:{port}/"),
        format!("redis://127.0.0.1:{port}/1"),
    ] {
        let began = Instant::now();
        let error = refusal(&Options::new(url.clone())).await;
        assert!(matches!(error, OpenError::Refused(_)), "{error}");
        assert!(began.elapsed() < SOON, "it waited");
        let said = format!("{error} {error:?} {:?}", Options::new(url));
        assert!(!said.contains("battery") && !said.contains("horse"), "{said}");
    }
    ValkeyBackend::open(&Options::new(server.url())).await.unwrap();
}

#[tokio::test]
async fn a_user_who_may_not_load_functions_is_refused_at_once() {
    let server = Standalone::start(ServerOptions::default()).await;
    server.ask("ACL SETUSER reader on >pass ~* &* +@read +info").await;
    let error = refusal(&Options::new(format!(
        "valkey://reader:pass@127.0.0.1:{}/",
        server.port()
    )))
    .await;
    assert!(matches!(error, OpenError::Refused(_)), "{error}");
}

#[tokio::test]
async fn a_server_that_may_throw_records_away_is_refused() {
    let server = Standalone::start(ServerOptions::default().maxmemory_policy("allkeys-lru")).await;
    let error = refusal(&Options::new(server.url())).await;
    assert!(
        error.to_string().contains("allkeys-lru") && error.to_string().contains("noeviction"),
        "{error}"
    );
    server.ask("CONFIG SET maxmemory-policy noeviction").await;
    ValkeyBackend::open(&Options::new(server.url())).await.unwrap();
}

#[tokio::test]
async fn other_partition_counts_are_refused_with_both_values() {
    let server = Standalone::start(ServerOptions::default()).await;
    let with = |flow| Options {
        counts: counts(flow),
        ..Options::new(server.url())
    };
    for _ in 0..2 {
        let store = ValkeyBackend::open(&with(16)).await.unwrap();
        assert!(
            keys(&store).await.is_empty(),
            "they are not listed with what others write"
        );
    }
    let error = refusal(&with(32)).await;
    assert!(matches!(error, OpenError::Counts(_)), "{error}");
    assert!(
        error.to_string().contains("flow 16") && error.to_string().contains("flow 32"),
        "{error}"
    );
}

#[tokio::test]
async fn of_many_who_start_at_once_all_have_the_same_counts() {
    let server = Standalone::start(ServerOptions::default()).await;
    let opening = (0..8).map(|n| {
        let options = Options {
            counts: counts(16 + n % 2),
            ..Options::new(server.url())
        };
        async move { ValkeyBackend::open(&options).await.map(|_| n % 2) }
    });
    let opened: Vec<u16> = join_all(opening).await.into_iter().filter_map(Result::ok).collect();
    assert_eq!(opened.len(), 4, "{opened:?}");
    assert!(opened.iter().all(|parity| *parity == opened[0]), "{opened:?}");
}

#[tokio::test]
async fn a_server_that_starts_a_moment_later_is_waited_for() {
    let server = Standalone::start(ServerOptions::default()).await;
    server.kill();
    let options = Options {
        patience: SOON,
        ..Options::new(server.url())
    };
    let opening = tokio::spawn(async move { ValkeyBackend::open(&options).await });
    server.restart().await;
    opening.await.unwrap().unwrap().ping().await.unwrap();
}

#[tokio::test]
async fn patience_ends() {
    let server = Standalone::start(ServerOptions::default().password("hunter2")).await;
    server.pause();
    let error = refusal(&impatient(server.url())).await;
    assert!(matches!(error, OpenError::Unreachable(_)), "{error}");
    server.kill();
    let error = refusal(&impatient(server.url())).await;
    assert!(matches!(error, OpenError::Unreachable(_)), "{error}");
    assert!(
        error.to_string().contains(&server.port().to_string()) && !error.to_string().contains("hunter2"),
        "{error}"
    );
}

#[tokio::test]
async fn a_replica_is_no_store() {
    let [primary, replica] = [
        Standalone::start(ServerOptions::default()).await,
        Standalone::start(ServerOptions::default()).await,
    ];
    replica.ask(&format!("REPLICAOF 127.0.0.1 {}", primary.port())).await;
    let error = refusal(&impatient(replica.url())).await;
    assert!(error.to_string().contains("replica"), "{error}");
    let options = Options {
        urls: vec![replica.url(), primary.url()],
        ..Options::new("")
    };
    ValkeyBackend::open(&options).await.unwrap();
}

#[tokio::test]
async fn a_server_that_does_not_speak_tls_is_no_server() {
    let server = Standalone::start(ServerOptions::default()).await;
    let url = server.url().replace("redis://", "valkeys://");
    let error = refusal(&impatient(url)).await;
    assert!(matches!(error, OpenError::Unreachable(_)), "{error}");
}

#[tokio::test]
async fn libraries_that_nobody_uses_are_deleted_and_one_in_use_comes_back() {
    let server = Standalone::start(ServerOptions::default()).await;
    for name in ["flowfabric_old", "flowfabric_recent", "flowfabric_unknown", "foreign"] {
        let text = format!("#!lua name={name}\nredis.register_function('of_{name}', function() return 1 end)");
        server.command(&[b"FUNCTION", b"LOAD", text.as_bytes()]).await.text();
    }
    let now: u64 = server.ask("TIME").await.array()[0].text().parse().unwrap();
    let hours_ago = |hours: u64| (now - 3_600 * hours) * 1_000;
    server
        .ask(&format!(
            "ZADD {{ff}}:libraries {} flowfabric_old {} flowfabric_recent",
            hours_ago(25),
            hours_ago(23)
        ))
        .await;
    let store = ValkeyBackend::open(&Options::new(server.url())).await.unwrap();
    let found = libraries(&server).await;
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(
        ["flowfabric_recent", "flowfabric_unknown", "foreign"]
            .iter()
            .all(|name| found.contains(&(*name).to_owned()))
    );
    let own = found
        .iter()
        .find(|name| !["flowfabric_recent", "flowfabric_unknown", "foreign"].contains(&name.as_str()));
    server.ask(&format!("FUNCTION DELETE {}", own.unwrap())).await;
    store.settings(vec![put("key")]).await.unwrap();
    assert_eq!(libraries(&server).await, found);
}

#[tokio::test]
async fn databases_keep_stores_apart() {
    let server = Standalone::start(ServerOptions::default()).await;
    let open = async |database| {
        let options = Options {
            counts: counts(16 + u16::try_from(database).unwrap()),
            ..Options::new(at(&server, database))
        };
        ValkeyBackend::open(&options).await.unwrap()
    };
    let (one, other) = (open(1).await, open(2).await);
    let mut hints = one.hints();
    other.settings(vec![put("theirs")]).await.unwrap();
    one.settings(vec![put("mine")]).await.unwrap();
    let heard = timeout(SOON, hints.next()).await.unwrap();
    assert_eq!(
        heard,
        Some(Hint::Setting("mine".to_owned())),
        "the other one wrote first"
    );
    assert_eq!(
        (keys(&one).await, keys(&other).await),
        (vec!["mine".to_owned()], vec!["theirs".to_owned()])
    );
    let error = refusal(&Options::new(at(&server, 99))).await;
    assert!(matches!(error, OpenError::Address(_)), "{error}");
}

#[tokio::test]
async fn a_cluster_is_found_by_any_of_its_nodes() {
    let cluster = Cluster::start(ServerOptions::default().password("pass")).await;
    let nobody = Standalone::start(ServerOptions::default()).await;
    nobody.kill();
    let options = Options {
        urls: vec![cluster.node(0).url_at(nobody.port()), cluster.node(5).url()],
        ..Options::new("")
    };
    let store = ValkeyBackend::open(&options).await.unwrap();
    let mut hints = store.hints();
    store.settings(vec![put("key")]).await.unwrap();
    let heard = timeout(SOON, hints.next()).await.unwrap();
    assert_eq!(heard, Some(Hint::Setting("key".to_owned())));
    for node in 0..3 {
        assert_eq!(libraries(cluster.node(node)).await.len(), 1, "node {node}");
    }
    let error = refusal(&Options::new(at(cluster.node(1), 1))).await;
    assert!(matches!(error, OpenError::Address(_)), "{error}");
    cluster.node(2).ask("CONFIG SET maxmemory-policy volatile-ttl").await;
    let error = refusal(&options).await;
    assert!(error.to_string().contains("volatile-ttl"), "{error}");
}
