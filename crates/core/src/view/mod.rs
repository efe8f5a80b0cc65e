//! How things are read: what a caller sees of records, never their secrets.

mod event;
mod execution;
mod explain;
mod flow;
mod lane;
mod list;
mod partition;
mod problem;
mod server;
mod signal;
mod tag;

pub use event::{Event, EventFilter, Events, EventsFrom, ReadEvents};
pub use execution::{ExecutionView, GetResult, GrantView, StateView, SuspensionView, WaitForEnd};
pub use explain::{Condition, Explanation, Hindrance, NearestWorker};
pub use flow::{FlowView, GroupView, ListFlows};
pub use lane::LaneView;
pub use list::{ExecutionPage, ListExecutions, ListOrder};
pub use partition::{ListPartitions, PartitionView};
pub use problem::{ListProblems, Problem, ProblemKind};
pub use server::{ServerInfo, ServerLimits};
pub use signal::SignalView;
pub use tag::WantedTag;
