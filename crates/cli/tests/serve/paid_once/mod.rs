//! Agents of 40 steps whose worker process is killed again and again: what was recorded is not done again, and is paid once.
//!
//! The bodies keep a ledger: a line in a file before anything else happens. By it,
//!
//! * the body that ran last for a step is the one that is recorded: after a record none runs;
//! * whatever ran besides was running, unrecorded, in a worker that was killed: one body at most for each agent and kill.
//!
//! Moments come from a seed, which a failure names; set `FF_TEST_SEED` to it to see them again. `FF_TEST_KILLS` says how often
//! a worker is killed.

mod agent;
mod ledger;
mod scene;
mod verdict;

use self::scene::Scene;
use crate::kills;
use crate::served::Store;

/// How often a worker is killed, unless somebody has more time.
const KILLS: usize = 5;

async fn kill_again_and_again(store: Store) {
    let kills = kills(KILLS);
    // So many that work is left at the last kill, whatever happens before.
    let mut scene = Scene::begin(store, 8 + 2 * kills).await;
    for _ in 0..kills {
        scene.at_work().await;
        scene.kill_the_worker();
        scene.start_a_worker();
    }
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_on_sqlite_whose_worker_dies_pay_for_every_step_once() {
    kill_again_and_again(Store::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_on_valkey_whose_worker_dies_pay_for_every_step_once() {
    kill_again_and_again(Store::valkey().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_on_postgres_whose_worker_dies_pay_for_every_step_once() {
    kill_again_and_again(Store::postgres().await).await;
}
