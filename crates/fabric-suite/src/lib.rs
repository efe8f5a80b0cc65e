//! The suite every implementation of [`Fabric`] runs unchanged: each promise of the interface is one case.
//!
//! An implementation gives a fresh, empty fabric per case and a way to let time pass, and runs everything in three lines:
//!
//! ```text
//! async fn make() -> MyHarness { … }
//! ff_fabric_suite::fabric_suite!(make);
//! ```
//!
//! Every case becomes a test of its own, named after the promise it tries. Time is the store's: cases never sleep, they
//! [`Harness::advance`].
//!
//! | subject | promises about |
//! |---|---|
//! | submissions, tags, limits | what is submitted: ids, keys, duplicates, sizes |
//! | claims, grants, lanes, exchanges, workers | how work gets to workers |
//! | leases, retries, streams, usages | what a holder does, and what follows a failure |
//! | callers, access_keys | who may, and what a lease allows |
//! | suspensions, signals, approvals, keys | waiting for somebody, and who may end that |
//! | operators, replays | what people do to executions |
//! | flows, adoptions, edges, groups, graphs, pictures, inputs, cancellations | executions that depend on each other |
//! | budgets, quotas | what may be spent, started and run |
//! | reads, listings, finds, views, explanations, events | what is shown |
//! | time | what happens because a moment has come, or later because of something else |
//!
//! `tests/coverage.rs` fails when an operation of the interface is called by no case, or a code it can answer with is
//! expected by none.

#![expect(
    clippy::unwrap_used,
    reason = "a case that does not get what it was promised has failed"
)]

mod cases;
mod overview;
mod scene;

mod access_keys;
mod adoptions;
mod approvals;
mod budgets;
mod callers;
mod cancellations;
mod claims;
mod costs;
mod edges;
mod events;
mod exchanges;
mod explanations;
mod finds;
mod finishes;
mod flows;
mod grants;
mod graphs;
mod groups;
mod inputs;
mod keys;
mod lanes;
mod leases;
mod limits;
mod listings;
mod operators;
mod pictures;
mod quotas;
mod reads;
mod replays;
mod rerun_steps;
mod retries;
mod signals;
mod spawns;
mod steps;
mod streams;
mod submissions;
mod suspensions;
mod tags;
mod time;
mod usages;
mod views;
mod waits;
mod workers;

use std::sync::Arc;

use async_trait::async_trait;
use ff_core::caller::Caller;
use ff_core::fabric::Fabric;
use ff_core::time::Duration;
use futures::future::BoxFuture;

pub use cases::cases;

/// A fresh, empty fabric with a clock that can be moved.
#[async_trait]
pub trait Harness: Send + Sync {
    /// The fabric.
    fn fabric(&self) -> Arc<dyn Fabric>;

    /// The same fabric for a caller with this identity, role, namespace and lease.
    async fn fabric_for(&self, caller: Caller) -> Arc<dyn Fabric>;

    /// Lets time pass, and then everything happen that is due.
    async fn advance(&self, by: Duration);

    /// Lets everything happen that is due now.
    async fn settle(&self);
}

/// One promise, and how it is tried.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What it is about.
    pub subject: &'static str,
    /// The promise as a sentence.
    pub name: &'static str,
    /// Tries it on a fresh fabric; panics when it is not kept.
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

/// Makes a test of every case. `make` is an async function in scope that returns a [`Harness`] with an empty fabric.
#[macro_export]
macro_rules! fabric_suite {
    ($make:ident) => {
        $crate::fabric_cases! { $crate::fabric_tests, ($make) }
    };
}

/// One test function per case, in a module per subject.
#[doc(hidden)]
#[macro_export]
macro_rules! fabric_tests {
    (($make:ident) $($subject:ident { $($case:ident,)+ })+) => {
        $(
            mod $subject {
                use super::*;

                $(
                    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                    async fn $case() {
                        let harness = $make().await;
                        $crate::run(stringify!($subject), stringify!($case), &harness).await;
                    }
                )+
            }
        )+
    };
}
