//! The machine, a module for each subject; `flows`, `running`, `support` and `waiting` are what they are built with.
//!
//! One target: linking twenty of them took longer than running them.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod budget;
mod condition;
mod decisions;
mod flow;
mod flow_properties;
mod flows;
mod graph;
mod group;
mod index;
mod invariants;
mod leases;
mod operator;
mod placement;
mod policy;
mod quota;
mod replay;
mod running;
mod secrets;
mod signal;
mod submit;
#[expect(dead_code, reason = "the target `expected_table` needs the rest of the builders")]
mod support;
mod suspend;
mod waiting;
mod workers;
