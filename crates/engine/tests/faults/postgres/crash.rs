//! A server that dies.

use super::{Site, open};
use crate::often::usually_or_in_full;
use crate::scene::Scene;

/// How often all of it is killed, and how often one of its processes.
const KILLS: (usize, usize) = (2, 20);
const OF_ONE: (usize, usize) = (1, 5);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_loses_nothing() {
    let site = Site::start().await;
    let mut scene = Scene::begin(|| open(site.url())).await;
    for _ in 0..usually_or_in_full(KILLS) {
        scene.random_moment(300..1_200).await;
        site.server.kill();
        scene.random_moment(0..400).await;
        site.server.restart().await;
    }
    for _ in 0..usually_or_in_full(OF_ONE) {
        scene.random_moment(300..1_200).await;
        // The server cannot know what that one has left in memory: it ends all of them and recovers.
        let ours = "SELECT pid FROM pg_stat_activity WHERE application_name = 'flowfabric' ORDER BY pid";
        let ours: Vec<u32> = site.ask(ours).await.lines().map(|pid| pid.parse().unwrap()).collect();
        site.server.kill_process(ours[scene.luck.below(ours.len())]);
    }
    scene.random_moment(300..600).await;
    let tally = scene.end("PostgreSQL kills").await;
    assert_eq!(tally.losses(), 0);
}
