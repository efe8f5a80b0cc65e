//! One server.

use std::time::Duration;

use ff_valkey_server::{Fsync, Options, Persistence, Proxy, Standalone};

use super::open;
use super::power::Power;
use crate::scene::Scene;
use crate::window::Window;

const KILLS: usize = 20;
const POWER_FAILURES: usize = 4;
const FLUSHES: usize = 4;
const CUTS: usize = 14;

/// What `appendfsync everysec` may lose.
const UNSYNCED: Duration = Duration::from_secs(1);
/// While a sync is under way the server puts the next write off, for two seconds at most, and answers nevertheless.
const PUT_OFF: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_that_syncs_always_loses_nothing() {
    let server = Standalone::start(appending(Fsync::Always)).await;
    let mut scene = Scene::begin(|| open(vec![server.url()])).await;
    for _ in 0..KILLS {
        scene.random_moment(300..1_200).await;
        server.kill();
        scene.random_moment(0..400).await;
        server.restart().await;
    }
    scene.random_moment(300..600).await;
    let tally = scene.end("kills, always").await;
    assert_eq!(tally.losses(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_syncs_every_second_loses_the_last_one() {
    let server = Standalone::start(appending(Fsync::EverySecond)).await;
    let power = Power::watch(&server);
    let mut scene = Scene::begin(|| open(vec![server.url()])).await;
    for _ in 0..POWER_FAILURES {
        scene.random_moment(1_200..2_500).await;
        let bytes = power.fail(&server, UNSYNCED);
        scene.windows.add(Window::before_now(UNSYNCED + PUT_OFF, None));
        assert!(bytes > 0, "nothing was written in the last second");
        server.restart().await;
    }
    scene.random_moment(300..600).await;
    let tally = scene.end("power failures, everysec").await;
    assert!(tally.losses() > 0, "a second without a loss tests nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn functions_that_vanish_are_noticed_by_nobody() {
    let server = Standalone::start(Options::default()).await;
    let mut scene = Scene::begin(|| open(vec![server.url()])).await;
    for _ in 0..FLUSHES {
        scene.random_moment(100..800).await;
        server.ask("FUNCTION FLUSH").await;
    }
    scene.random_moment(300..600).await;
    let tally = scene.end("flushes").await;
    assert_eq!((tally.losses(), tally.retries), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_connections_lose_nothing_and_repeat_nothing() {
    let server = Standalone::start(Options::default()).await;
    let proxy = Proxy::start(server.port()).await;
    let mut scene = Scene::begin(|| open(vec![proxy.url()])).await;
    for cut in 0..CUTS {
        scene.random_moment(100..500).await;
        let before = proxy.cuts();
        if cut % 3 == 0 {
            proxy.cut();
        } else {
            proxy.cut_replies_after(scene.luck.below(4_000));
        }
        while proxy.cuts() == before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    scene.random_moment(300..600).await;
    let tally = scene.end("cuts").await;
    assert_eq!(tally.losses(), 0);
}

fn appending(fsync: Fsync) -> Options {
    Options::default().persistence(Persistence::AppendOnly { fsync })
}
