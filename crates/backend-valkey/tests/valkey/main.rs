//! The Valkey store: the conformance suite on one server and on a cluster, and what only Valkey has.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod cluster;
mod conformance;
mod ledger;
mod list;
mod opening;
mod support;
mod tls;
