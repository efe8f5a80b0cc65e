//! Connections that end: all of them, one, those that hints come in on, and in the middle of an answer.

use std::time::Duration;

use ff_valkey_server::Proxy;

use super::{Site, open};
use crate::often::usually_or_in_full;
use crate::scene::Scene;

/// How often each kind of end comes.
const ROUNDS: (usize, usize) = (2, 20);
/// Answers are some kilobytes long.
const ANSWER_BYTES: usize = 20_000;

const LISTENS: &str = "query LIKE 'LISTEN%'";
const WORKS: &str = "query NOT LIKE 'LISTEN%'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_connections_lose_nothing_and_repeat_nothing() {
    let site = Site::start().await;
    let proxy = Proxy::start(site.server.port()).await;
    let url = format!("postgres://ff@127.0.0.1:{}/{}", proxy.port(), site.database);
    let mut scene = Scene::begin(|| open(url.clone())).await;
    for _ in 0..usually_or_in_full(ROUNDS) {
        scene.random_moment(100..500).await;
        terminate_one(&site, &mut scene, WORKS).await;
        scene.random_moment(100..500).await;
        terminate_one(&site, &mut scene, LISTENS).await;
        scene.random_moment(100..500).await;
        proxy.cut();
        scene.random_moment(100..500).await;
        let before = proxy.cuts();
        proxy.cut_replies_after(scene.luck.below(ANSWER_BYTES));
        while proxy.cuts() == before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    scene.random_moment(300..600).await;
    let tally = scene.end("PostgreSQL connections").await;
    assert_eq!(tally.losses(), 0);
    assert!(tally.retries > 0, "a cut that nobody notices tests nothing");
}

/// Ends a connection of those that are of this kind; they come back when they were just cut.
async fn terminate_one(site: &Site, scene: &mut Scene, kind: &str) {
    let ours =
        format!("SELECT pid FROM pg_stat_activity WHERE application_name = 'flowfabric' AND {kind} ORDER BY pid");
    loop {
        let ours = site.ask(&ours).await;
        let ours: Vec<&str> = ours.lines().collect();
        if !ours.is_empty() {
            let one = ours[scene.luck.below(ours.len())];
            // It may have ended by itself meanwhile.
            if site.ask(&format!("SELECT pg_terminate_backend({one})")).await == "t" {
                return;
            }
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
