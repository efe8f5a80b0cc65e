//! Verbs about what all executions share: lanes, budgets, quotas, workers, secrets, events.

mod budget;
mod events;
mod lanes;
mod listing;
mod quota;
mod secret;
mod workers;

pub(crate) use budget::Budget;
pub(crate) use events::Events;
pub(crate) use lanes::{Lane, Lanes, table as lane_table};
pub(crate) use quota::Quota;
pub(crate) use secret::RotateSecret;
pub(crate) use workers::{Workers, table as worker_table};
