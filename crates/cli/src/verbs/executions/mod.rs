//! Verbs about one execution, and about finding them.

mod cancel;
mod explain;
mod get;
mod history;
mod hold;
mod list;
mod policy;
mod priority;
mod replay;
mod result;
mod steps;
mod submit;
mod tail;
mod wait;

pub(crate) use cancel::Cancel;
pub(crate) use explain::Explain;
pub(crate) use get::Get;
pub(crate) use history::History;
pub(crate) use hold::{Hold, Unhold};
pub(crate) use list::{List, table};
pub(crate) use priority::Priority;
pub(crate) use replay::Replay;
pub(crate) use result::GetResult;
pub(crate) use steps::Steps;
pub(crate) use submit::Submit;
pub(crate) use tail::Tail;
pub(crate) use wait::Wait;
