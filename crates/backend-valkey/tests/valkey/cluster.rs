//! The whole conformance suite on a cluster of six nodes. Making one takes seconds, so all cases share it, one after the
//! other, each on an empty store.

use ff_backend::conformance::cases;
use ff_valkey_server::Cluster;

use crate::support::ValkeyHarness;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_promise_is_kept_on_a_cluster() {
    let cluster = Cluster::start(Default::default()).await;
    let mut broken = Vec::new();
    for case in cases() {
        for primary in cluster.primaries().await {
            cluster.node(primary).ask("FLUSHALL").await;
            // The library remembers what it told.
            cluster.node(primary).ask("FUNCTION FLUSH").await;
        }
        let harness = ValkeyHarness::open(cluster.urls()).await;
        let tried = tokio::spawn(async move { (case.run)(&harness).await });
        if let Err(failure) = tried.await {
            broken.push(format!("{}::{}: {failure}", case.subject, case.name));
        }
    }
    assert!(
        broken.is_empty(),
        "{} promises are broken:\n{}",
        broken.len(),
        broken.join("\n")
    );
}
