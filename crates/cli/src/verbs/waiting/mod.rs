//! Verbs about what waits: for a signal, or for a person.

mod approvals;
mod asked;
mod decide;
mod signal;
mod waitpoint;

pub(crate) use approvals::Approvals;
pub(crate) use decide::{Approve, Reject};
pub(crate) use signal::Signal;
