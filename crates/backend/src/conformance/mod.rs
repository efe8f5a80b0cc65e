//! The suite every backend runs unchanged: each promise of [`crate::Backend`] is one case.
//!
//! A backend gives a fresh, empty store per case and a way to move its clock, and runs everything in three lines:
//!
//! ```text
//! async fn make() -> MyHarness { … }
//! ff_backend::conformance_suite!(make);
//! ```
//!
//! Every case becomes a test of its own, named after the promise it tries. A store's clock may run on beside `advance`, so
//! cases compare only moments the store itself answered.

mod build;
mod cases;

mod audit;
mod batch;
mod clock;
mod commit;
mod counters;
mod due;
mod entries;
mod feed;
mod frame_keys;
mod frames;
mod generations;
mod guards;
mod hints;
mod later;
mod ledger;
mod limits;
mod list;
mod load;
mod model;
mod nudges;
mod payloads;
mod queues;
mod ranges;
mod remains;
mod reserve_cost;
mod reserve_fields;
mod reserve_match;
mod reserve_order;
mod reserve_race;
mod settings;
mod steps;
mod sweeps;
mod ttl;
mod unknown;

use std::sync::Arc;

use async_trait::async_trait;
use ff_core::partition::PartitionCounts;
use ff_core::time::Duration;
use futures::future::BoxFuture;

use crate::Backend;

pub use cases::cases;

use limits::{between, budget_model, budgets, quota_model, quotas};

/// A fresh, empty store with a clock that can be moved.
#[async_trait]
pub trait Harness: Send + Sync {
    /// The store.
    fn backend(&self) -> Arc<dyn Backend>;

    /// Moves the store's clock; it may run on besides.
    async fn advance(&self, by: Duration);

    /// How many partitions the store has.
    fn counts(&self) -> PartitionCounts;

    /// How many entries of queues and records `reserve` has visited so far, if the store can tell. Without it the suite
    /// compares how long calls take.
    fn work_counter(&self) -> Option<u64> {
        None
    }

    /// Whether `reserve` keeps its order across partitions too, at every moment.
    fn orders_across_partitions(&self) -> bool {
        true
    }

    /// How long a hint may take before the suite gives it up.
    fn hint_wait(&self) -> std::time::Duration {
        std::time::Duration::from_secs(10)
    }

    /// How many lines the feed of a partition keeps, if that is few enough to try.
    fn feed_lines_max(&self) -> Option<usize> {
        None
    }
}

/// One promise, and how it is tried.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What it is about.
    pub subject: &'static str,
    /// The promise as a sentence.
    pub name: &'static str,
    /// Tries it on a fresh store; panics when it is not kept.
    pub run: for<'h> fn(&'h dyn Harness) -> BoxFuture<'h, ()>,
}

/// Runs the case of this subject and name.
pub async fn run(subject: &str, name: &str, harness: &dyn Harness) {
    let case = cases()
        .into_iter()
        .find(|case| (case.subject, case.name) == (subject, name));
    let case = case.expect("tests are made from the same list");
    (case.run)(harness).await;
}

/// Makes a test of every case. `make` is an async function in scope that returns a [`Harness`] with an empty store.
#[macro_export]
macro_rules! conformance_suite {
    ($make:ident) => {
        $crate::conformance_cases! { $crate::conformance_tests, ($make) }
    };
}

/// One test function per case, in a module per subject.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_tests {
    (($make:ident) $($subject:ident { $($case:ident,)+ })+) => {
        $(
            mod $subject {
                use super::*;

                $(
                    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                    async fn $case() {
                        let harness = $make().await;
                        $crate::conformance::run(stringify!($subject), stringify!($case), &harness).await;
                    }
                )+
            }
        )+
    };
}
