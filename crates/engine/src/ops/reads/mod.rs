//! Reading executions, lanes and events.
//!
//! | file | what |
//! |---|---|
//! | `get`, `result` | get_execution, get_state; get_result |
//! | `list` | list_executions, and views of executions for other listings |
//! | `history` | get_history, list_attempts |
//! | `explain` | explain |
//! | `lanes`, `throughput` | list_lanes; what ended lately |
//! | `steps` | read_steps, get_step_output |
//! | `wait`, `watch` | wait_for_end; waiting in general, and how many may |
//! | `events`, `positions` | events; how far a reader has come in every feed |
//! | `feed_hub` | the one reader of the feeds for everybody who waits for events |
//! | `problems`, `partitions` | list_problems; list_partitions |
//! | `view`, `environment` | what a caller sees of an execution, and what stands around it |

mod environment;
mod events;
mod explain;
mod feed_hub;
mod get;
mod history;
mod lanes;
mod list;
mod partitions;
mod positions;
mod problems;
mod result;
mod steps;
mod throughput;
mod view;
mod wait;
mod watch;

pub(crate) use events::events;
pub(crate) use explain::explain;
pub(crate) use get::{get_execution, get_state};
pub(crate) use history::{get_history, list_attempts};
pub(crate) use lanes::list_lanes;
pub(crate) use list::list_executions;
pub(crate) use partitions::list_partitions;
pub(crate) use problems::list_problems;
pub(crate) use result::get_result;
pub(crate) use steps::{get_step_output, read_steps};
pub(crate) use wait::wait_for_end;

pub(crate) use events::feed_grew;
pub(crate) use feed_hub::FeedHub;
pub(crate) use history::attempt_in;
pub(crate) use list::execution_views;
pub(crate) use throughput::Throughput;
pub(crate) use watch::WaitingReads;
