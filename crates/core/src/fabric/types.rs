//! Every type that stands in the table of operations.

pub use crate::command::budget::*;
pub use crate::command::claim::*;
pub use crate::command::flow::*;
pub use crate::command::key::*;
pub use crate::command::lane::*;
pub use crate::command::lease::*;
pub use crate::command::operator::*;
pub use crate::command::page::*;
pub use crate::command::quota::*;
pub use crate::command::signal::*;
pub use crate::command::spawn::*;
pub use crate::command::steps::*;
pub use crate::command::stream::*;
pub use crate::command::submit::*;
pub use crate::command::suspend::*;
pub use crate::command::view::*;
pub use crate::command::waitpoint::*;
pub use crate::command::worker::*;
pub use crate::id::{BudgetId, ExecutionId, FlowId, QuotaPolicyId};
pub use crate::keyring::{RotateWaitpointSecret, Rotated};
pub use crate::name::Namespace;
pub use crate::record::{Attempt, Edge, HistoryLine, SavedView, Worker};
pub use crate::view::*;
