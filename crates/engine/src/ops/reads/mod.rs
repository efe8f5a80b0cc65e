//! Reading executions, lanes and events.
//!
//! | file | what |
//! |---|---|
//! | `get`, `result` | get_execution, get_state; get_result |
//! | `list` | list_executions, and views of executions for other listings |
//! | `find`, `names` | find; names, and what was seen of them |
//! | `history` | get_history, list_attempts |
//! | `explain` | explain |
//! | `lane`, `lanes`, `throughput` | get_lane; list_lanes, list_namespaces; what ended lately |
//! | `steps` | read_steps, get_step_output |
//! | `wait`, `watch` | wait_for_end; waiting in general, and how many may |
//! | `events`, `positions` | events; how far a reader has come in every feed |
//! | `feed_hub` | the one reader of the feeds for everybody who waits for events |
//! | `overview`, `series` | overview; series |
//! | `problems`, `partitions` | list_problems; list_partitions |
//! | `view`, `environment` | what a caller sees of an execution, and what stands around it |

mod environment;
mod events;
mod explain;
mod feed_hub;
mod find;
mod get;
mod history;
mod lane;
mod lanes;
mod list;
mod names;
mod overview;
mod partitions;
mod positions;
mod problems;
mod result;
mod series;
mod steps;
mod throughput;
mod view;
mod wait;
mod watch;

pub(crate) use events::events;
pub(crate) use explain::explain;
pub(crate) use find::find;
pub(crate) use get::{get_execution, get_state};
pub(crate) use history::{get_history, list_attempts};
pub(crate) use lane::get_lane;
pub(crate) use lanes::{lane_view, list_lanes, list_namespaces};
pub(crate) use list::list_executions;
pub(crate) use names::names;
pub(crate) use overview::overview;
pub(crate) use partitions::list_partitions;
pub(crate) use problems::list_problems;
pub(crate) use result::get_result;
pub(crate) use series::{Steps, columns, series};
pub(crate) use steps::{get_step_output, read_steps};
pub(crate) use wait::wait_for_end;

pub(crate) use events::{events_from_now, feed_grew};
pub(crate) use feed_hub::FeedHub;
pub(crate) use history::attempt_in;
pub(crate) use list::{execution_views, is_taken};
pub(crate) use names::NamesSeen;
pub(crate) use throughput::Throughput;
pub(crate) use watch::WaitingReads;
