//! How things are read: what a caller sees of records, never their secrets.

mod event;
mod execution;
mod explain;
mod flow;
mod lane;
mod signal;

pub use event::{Event, EventFilter, Events, ReadEvents};
pub use execution::{
    ExecutionView, GetResult, GrantView, Holder, ListExecutions, StateView, SuspensionView, WaitForEnd,
};
pub use explain::{Condition, Explanation, Hindrance, NearestWorker};
pub use flow::{FlowView, GroupView, ListFlows};
pub use lane::LaneView;
pub use signal::SignalView;
