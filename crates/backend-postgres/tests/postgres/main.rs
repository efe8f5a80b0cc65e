//! The PostgreSQL store: the conformance suite, and what only PostgreSQL has.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod conformance;
mod deadlocks;
mod floors;
mod opening;
