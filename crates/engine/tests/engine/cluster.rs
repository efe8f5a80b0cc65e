//! The interface over a Valkey cluster. Making one takes seconds, so cases share it, one after the other, each on an empty
//! store. By default a sample is tried; `just full` tries all.

use ff_fabric_suite::cases;
use ff_valkey_server::Cluster;

use crate::support::EngineHarness;

/// Tries every case when it is set.
const ALL: &str = "FF_TEST_CLUSTER_FULL";
/// How many cases stand for one that is tried otherwise.
const SAMPLE: usize = 12;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_interface_holds_on_a_cluster() {
    let every = if std::env::var_os(ALL).is_some() { 1 } else { SAMPLE };
    let cluster = Cluster::start(Default::default()).await;
    let mut broken = Vec::new();
    for case in cases().into_iter().step_by(every) {
        for primary in cluster.primaries().await {
            cluster.node(primary).ask("FLUSHALL").await;
            // The library remembers what it told.
            cluster.node(primary).ask("FUNCTION FLUSH").await;
        }
        let harness = EngineHarness::at(cluster.urls(), |_| ()).await;
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
