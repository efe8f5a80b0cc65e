//! The SQLite store: the conformance suite, and what only a file has.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod backup;
mod conformance;
mod crash;
mod log;
mod opening;
mod restart;
