//! How things are read: what a caller sees of records, never their secrets.

mod cause;
mod event;
mod execution;
mod explain;
mod find;
mod flow;
mod graph;
mod how_many;
mod lane;
mod list;
mod overview;
mod partition;
mod problem;
mod series;
mod server;
mod signal;
mod tag;

pub use cause::HeldBackBy;
pub use event::{Event, EventFilter, Events, EventsFrom, ReadEvents};
pub use execution::{ExecutionView, GetResult, GrantView, StateView, StepTotals, SuspensionView, WaitForEnd};
pub use explain::{Condition, Explanation, Hindrance, NearestWorker};
pub use find::{Find, Found, FoundType, Hit, ListNames, Names, NamesOf, Piece};
pub use flow::{FlowPage, FlowView, GroupView, ListFlows};
pub use graph::{FlowGraphView, GraphClass, GraphMembers, ListGraphMembers};
pub use how_many::HowMany;
pub use lane::{LaneQueue, LaneView, OneLane};
pub use list::{ExecutionPage, ListExecutions, ListOrder, last_category};
pub(crate) use list::{check_values, is_one_of};
pub use overview::{
    Attention, AttentionCode, ClosedBudget, HeldBack, HeldBackKind, LaneOverview, LaneProblem, Minute, MoreLanes,
    Overview, Rates, ReadOverview, WaitingForPeople, WorkersSeen,
};
pub use partition::{ListPartitions, PartitionView};
pub use problem::{ListProblems, Problem, ProblemKind};
pub use series::{Columns, ReadSeries, Series, SeriesOf, Spent};
pub use server::{ServerInfo, ServerLimits};
pub use signal::SignalView;
pub use tag::WantedTag;
