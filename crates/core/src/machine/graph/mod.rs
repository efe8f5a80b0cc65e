//! create_flow_graph: a part of a graph is checked as a whole, then written in bounded transactions.
//!
//! A member is created together with the edges that lead to it, upstreams first. A member that is created last has no
//! outbound edges yet, so no transaction can close a cycle, whatever others stage in between. A member with more edges than
//! fit gets the rest in the transactions that follow, before any member that depends on it exists. Nothing runs meanwhile:
//! the flow is assembling. Each transaction lands as a whole, so a repeated call goes on with the first one whose witness
//! is missing.

mod plan;
mod write;

pub use plan::{Chunk, Plan, member_id, plan};
pub use write::{ChunkLoaded, draft};
