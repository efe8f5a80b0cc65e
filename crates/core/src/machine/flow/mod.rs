//! Flows: a DAG of executions, with a gate that decides whether members may be added and claimed.
//!
//! | gate | members and edges may be added | members may be claimed |
//! |---|---|---|
//! | assembling | yes | no: they carry `unopened` |
//! | open | yes | yes |
//! | sealed | no | yes |
//! | cancelled | no | no: a member that would go back to its queue is cancelled instead |
//!
//! A member's end does not write the flow: members are counted beside it, and the flow is looked at again when a counter
//! says so.

mod counts;
mod life;
mod members;
mod time;

pub use counts::{Counts, FlowState, Loaded, state};
pub use life::{cancel, create, open, request_delete, set_tags};
pub use members::{
    Doomed, Reached, cancel_member, cancel_members, delete, delete_member, delete_members, open_members,
};
pub use time::{advance, due_at};

pub(crate) use life::{create_opened, create_own, flow_line, take_flow};
