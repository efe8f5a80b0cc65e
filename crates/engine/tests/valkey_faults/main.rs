//! Faults for real: servers that are killed, connections that break, functions that vanish and slots that move, while clients
//! submit and workers work. What is promised is checked against what the clients were told.
//!
//! Moments and sizes come from a seed, which a failure names; set `FF_TEST_SEED` to it to see them again.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]
#![expect(
    clippy::print_stderr,
    reason = "a run that failed is told by its seed and its figures"
)]

mod audit;
mod cluster;
mod insist;
mod ledger;
mod load;
mod luck;
mod power;
mod reader;
mod scene;
mod standalone;
mod verdict;
mod window;
mod worker;
mod writer;
