//! Everything FlowFabric does, as one interface: the engine implements it in process, a client over HTTP.
//!
//! One struct in, one outcome out. A refusal is a [`Rejection`] with a stable code. Every operation is safe to repeat after a
//! lost reply: by the id it creates, by the lease it ends, by the key or request id it carries.
//!
//! | trait | operations |
//! |---|---|
//! | [`Submit`] | create_execution, create_executions, tags, input |
//! | [`Claims`] | claim_for_worker, claim_from_grant, claim, exchange, reclaim grants |
//! | [`Work`] | what a lease holder does: renew … complete, suspend, frames, usage |
//! | [`Operate`] | cancel, replay, revoke, priority, hold, lane states |
//! | [`Signals`] | signals, waitpoints, approvals, signing keys |
//! | [`Flows`] | flows, members, dependencies, graphs |
//! | [`Budgets`], [`Quotas`] | limits |
//! | [`Streams`] | reading the output of attempts |
//! | [`Workers`] | registration |
//! | [`Reads`] | executions, history, lanes, explain, events, problems |

mod budgets;
mod claims;
mod flows;
mod operate;
mod quotas;
mod reads;
mod signals;
mod streams;
mod submit;
mod work;
mod workers;

pub use budgets::Budgets;
pub use claims::Claims;
pub use flows::Flows;
pub use operate::Operate;
pub use quotas::Quotas;
pub use reads::Reads;
pub use signals::Signals;
pub use streams::Streams;
pub use submit::Submit;
pub use work::Work;
pub use workers::Workers;

use crate::error::Rejection;

/// The answer to an operation.
pub type Result<T> = std::result::Result<T, Rejection>;

/// All of FlowFabric.
pub trait Fabric:
    Submit + Claims + Work + Operate + Signals + Flows + Budgets + Quotas + Streams + Workers + Reads
{
}

impl<T> Fabric for T where
    T: Submit + Claims + Work + Operate + Signals + Flows + Budgets + Quotas + Streams + Workers + Reads
{
}

/// A command about the thing with this id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct On<I, C> {
    /// Which thing.
    pub id: I,
    /// What to do.
    pub command: C,
}

impl<I, C> On<I, C> {
    /// `command` about `id`.
    pub const fn new(id: I, command: C) -> Self {
        Self { id, command }
    }
}
