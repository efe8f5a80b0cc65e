//! Two servers on one PostgreSQL database, under the same quota and the same budget: one is killed, or stopped with everything
//! it holds, and the other goes on at once. Clients of both go on as if nothing had happened, and what they were told is
//! compared with what the servers say in the end.
//!
//! Moments and choices come from a seed, which a failure names; set `FF_TEST_SEED` to it to see them again. `FF_TEST_FAULTS_FULL`
//! lets servers end more often, and stand still for longer.

mod pulse;
mod scene;

use std::time::Duration;

use self::scene::Scene;
use crate::often::usually_or_in_full;

/// How often one is killed, how often one stands still for a moment, to be caught at something else each time, and how long one does
/// so in the end.
const KILLS: (usize, usize) = (1, 10);
const MOMENTS: (usize, usize) = (0, 12);
const STANDSTILL: (Duration, Duration) = (Duration::from_secs(6), Duration::from_secs(30));

/// Longer than the other one may need to go on, so that it is seen to wait if it does.
const A_MOMENT: Duration = Duration::from_millis(2_500);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_is_killed_or_stands_still_and_the_other_goes_on() {
    let mut scene = Scene::begin().await;
    for _ in 0..usually_or_in_full(KILLS) {
        scene.under_load().await;
        let (one, other) = scene.either();
        scene.kill(one);
        scene.goes_on(other, A_MOMENT).await;
        scene.start_again(one);
    }
    let moments = vec![A_MOMENT; usually_or_in_full(MOMENTS)];
    for still in moments.into_iter().chain([usually_or_in_full(STANDSTILL)]) {
        scene.under_load().await;
        let (one, other) = scene.either();
        scene.pause(one);
        scene.goes_on(other, still).await;
        scene.resume(one);
    }
    scene.under_load().await;
    scene.end("one of two killed or stopped").await;
}
