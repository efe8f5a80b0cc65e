//! A server that ends under load: killed, or told to stop. Submitters, workers and senders of signals are its clients over
//! HTTP; they go on as if nothing had happened, and what they were told is compared with what the server says in the end.
//!
//! Moments and choices come from a seed, which a failure names; set `FF_TEST_SEED` to it to see them again. `FF_TEST_KILLS`
//! says how often the server is killed.

mod account;
pub(crate) mod found;
pub(crate) mod held;
pub(crate) mod ledger;
pub(crate) mod load;
pub(crate) mod scene;
pub(crate) mod signaller;
mod submitter;
pub(crate) mod told;
pub(crate) mod verdict;
mod worker;

use std::time::Duration;

use self::scene::Scene;
use crate::kills;
use crate::served::Store;

/// How often a server is killed, unless somebody has more time.
const KILLS: usize = 3;
/// How often a server is told to stop.
const STOPS: usize = 2;
/// How long a server that is told to stop may take.
const STOPS_WITHIN: Duration = Duration::from_secs(15);

async fn kill_again_and_again(store: Store) {
    let mut scene = Scene::begin(store).await;
    for kill in 1..=kills(KILLS) {
        scene.under_load().await;
        scene.kill();
        // Now and then long enough for leases to end.
        let away = if kill % 5 == 0 { 1_500..2_500 } else { 0..300 };
        scene.pause(away).await;
        scene.start_again();
    }
    scene.under_load().await;
    scene.end("killed").await;
}

async fn stop_again_and_again(store: Store) {
    let mut scene = Scene::begin(store).await;
    for _ in 0..STOPS {
        scene.under_load().await;
        let took = scene.stop();
        eprintln!("stopped in {took:?}");
        assert!(took < STOPS_WITHIN, "it took {took:?} to stop");
        scene.start_again();
    }
    scene.under_load().await;
    let tally = scene.end("told to stop").await;
    assert_eq!(tally.repeated, 0, "whoever had asked was answered");
    let refused_and_there = tally.steps_refused_and_there + tally.frames_refused_and_there;
    assert_eq!((refused_and_there, tally.spent_though_refused), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_on_sqlite_that_is_killed_forgets_nothing_and_does_nothing_twice() {
    kill_again_and_again(Store::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_on_valkey_that_is_killed_forgets_nothing_and_does_nothing_twice() {
    kill_again_and_again(Store::valkey().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_on_postgres_that_is_killed_forgets_nothing_and_does_nothing_twice() {
    kill_again_and_again(Store::postgres().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_on_sqlite_that_is_told_to_stop_ends_in_time_and_loses_nothing() {
    stop_again_and_again(Store::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_on_valkey_that_is_told_to_stop_ends_in_time_and_loses_nothing() {
    stop_again_and_again(Store::valkey().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_on_postgres_that_is_told_to_stop_ends_in_time_and_loses_nothing() {
    stop_again_and_again(Store::postgres().await).await;
}
