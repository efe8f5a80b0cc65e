//! The engine over stores in memory and in a file. One binary: linking is what costs.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod behind;
mod cluster;
mod costs;
mod differential;
mod flows;
mod idle;
mod metrics;
mod ops;
mod prompt;
mod pump;
mod races_postgres;
mod reads;
mod rows;
mod sched;
mod schemas;
mod suite_http;
mod suite_memory;
mod suite_postgres;
mod suite_sqlite;
mod suite_upgrade;
mod suite_valkey;
mod suite_wire;
mod support;
mod trips;
mod unreadable;
mod upgrade;
