//! The routes, a file per resource.

mod events;
mod executions;
mod leases;
mod workers;

pub(crate) use events::events;
pub(crate) use executions::executions;
pub(crate) use leases::leases;
pub(crate) use workers::workers;
