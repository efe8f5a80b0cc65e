//! Faults for real: servers that are killed, connections that break, functions that vanish, slots that move and standbys that
//! take over, while clients submit and workers work. What is promised is checked against what the clients were told.
//!
//! Moments and sizes come from a seed, which a failure names; set `FF_TEST_SEED` to it to see them again. `FF_TEST_FAULTS_FULL`
//! lets things go wrong more often.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]
#![expect(
    clippy::print_stderr,
    reason = "a run that failed is told by its seed and its figures"
)]

mod audit;
mod follower;
mod insist;
mod ledger;
mod load;
mod luck;
mod often;
mod postgres;
mod reader;
mod scene;
mod valkey;
mod verdict;
mod window;
mod worker;
mod writer;
