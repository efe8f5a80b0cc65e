//! The rules: one pure function per operation and per thing that time does.
//!
//! | file | events |
//! |---|---|
//! | [`submit`] | create_execution |
//! | [`claim`] | reserve, admission, claim_from_grant, block, unblock |
//! | [`lease`] | renew, release, update_progress, complete, delay, report_usage, stop request |
//! | [`fail`] | fail, and what the retry policy makes of it |
//! | [`outbox`] | effects that have arrived elsewhere |
//! | [`operator`] | cancel, revoke_lease, reclaim grants, change_priority, hold, unhold, set_tags |
//! | [`admission`] | who may be leased, by budgets and quota, and what is released when there is room |
//! | [`budget`] | create, update_limits, reset, delete, report_usage at the budget, periodic reset |
//! | [`quota`] | create, update, delete, admit, release of a slot, window moved |
//! | [`suspend`] | suspend, and the timeout of a suspension |
//! | [`waitpoint`] | create_pending_waitpoint, its expiry, states and tokens of waitpoints |
//! | [`signal`] | deliver_signal |
//! | [`resume`] | resume_execution, and the move every way out of a suspension shares |
//! | [`approval`] | approve, reject, and what waits for a person |
//! | [`condition`] | resume conditions: well formed or not, what counts, whether they hold |
//! | [`flow`] | create_flow, opening, cancel_flow, delete_flow, the state of a flow and what its counters and time do |
//! | [`member`] | joining a flow: at submission, or add_execution_to_flow |
//! | [`edge`] | stage_dependency_edge, apply_dependency_to_child, cycle search |
//! | [`group`] | set_edge_group_policy, resolving edges, deciding a child, cancelling siblings |
//! | [`graph`] | create_flow_graph |
//! | [`wait_children`] | wait_children |
//! | [`replay`] | replay_execution |
//! | [`reopen`] | what a replay does to the edges around it |
//! | [`retention`] | deleting what nobody needs any more |
//! | [`steps`] | record_steps |
//! | [`stream`] | append_frame: size, summary merge |
//! | [`worker`], [`lane`], [`saved_view`] | register_worker, heartbeat, deregister; lane states; views |
//! | [`time`] | everything that happens because a moment has come |
//!
//! `change` holds the moves every rule is made of, [`decided`] what a rule answers, `fence` who may act as the holder,
//! [`placement`] which index a record belongs in, `follow_up` what pages of follow-up work owe to their record.

pub mod access_key;
pub mod admission;
pub mod approval;
pub mod budget;
mod change;
mod chosen;
pub mod claim;
pub mod condition;
mod context;
mod cycle;
pub mod decided;
pub mod edge;
pub mod fail;
mod fence;
pub mod flow;
mod follow_up;
pub mod graph;
pub mod group;
pub mod index;
pub mod lane;
pub mod lease;
pub mod member;
pub mod operator;
pub mod outbox;
pub mod placement;
pub mod quota;
pub mod reopen;
pub mod replay;
pub mod resume;
pub mod retention;
pub mod saved_view;
pub mod signal;
pub mod spawn;
pub mod steps;
pub mod stream;
pub mod submit;
pub mod suspend;
pub mod time;
pub mod wait_children;
pub mod waiting;
pub mod waitpoint;
pub mod worker;

pub use context::{Context, Settings};
pub use decided::{Decided, Draft};
pub use fence::lease_is_over;
