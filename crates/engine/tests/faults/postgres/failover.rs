//! A primary that dies, and a standby that takes its place.

use std::time::{Duration, Instant};

use ff_postgres_server::Replication;

use super::open;
use super::pair::Pair;
use crate::often::usually_or_in_full;
use crate::scene::Scene;
use crate::window::Window;

const FAILOVERS: (usize, usize) = (1, 10);

/// How far a standby that hears its primary may be behind it on a busy machine.
const LAG: Duration = Duration::from_millis(500);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_asynchronous_standby_loses_only_what_it_had_not_heard() {
    let mut pair = Pair::start(Replication::Asynchronous).await;
    let mut scene = Scene::begin(|| open(pair.url())).await;
    for failover in 0..usually_or_in_full(FAILOVERS) {
        if failover > 0 {
            pair.mend().await;
        }
        scene.random_moment(500..1_500).await;
        let unheard_since = Instant::now();
        if failover % 2 == 0 {
            pair.part().await;
            scene.random_moment(100..600).await;
        }
        pair.kill();
        let unheard = unheard_since.elapsed() + LAG;
        scene.windows.add(Window::before_now(unheard, None));
        pair.fail_over().await;
        scene.random_moment(300..1_000).await;
    }
    let tally = scene.end("PostgreSQL failovers, asynchronous").await;
    assert!(tally.losses() > 0, "a standby that hears everything tests nothing");
    assert!(tally.gaps > 0, "whoever had seen what is lost was not told");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_synchronous_standby_loses_nothing() {
    let mut pair = Pair::start(Replication::Synchronous).await;
    let mut scene = Scene::begin(|| open(pair.url())).await;
    for failover in 0..usually_or_in_full(FAILOVERS) {
        if failover > 0 {
            pair.mend().await;
        }
        scene.random_moment(500..1_500).await;
        pair.kill();
        pair.fail_over().await;
        scene.random_moment(300..1_000).await;
    }
    let tally = scene.end("PostgreSQL failovers, synchronous").await;
    assert_eq!(tally.losses(), 0);
}
