//! create_flow_graph: a part of a graph is checked as a whole, then written in bounded transactions.
//!
//! A member is created together with the edges that lead to it, upstreams first. A member that is created last has no
//! outbound edges yet, so its edges close no cycle, whatever others stage in between. A member with more edges than fit gets
//! the rest in the transactions that follow, before any member that depends on it exists. Nothing runs meanwhile: the flow is
//! assembling.
//!
//! A graph that is sent whole, to be opened, and fits into one transaction is created open in that one.
//!
//! A part may be sent again, because the first call was interrupted or because there is more in it now. What is there is
//! compared with what the part says and not written again; what is missing is written. An edge into a member that is there
//! may close a cycle, so it is searched for.

mod closing;
mod compare;
mod plan;
mod write;

pub use closing::ClosingSearch;
pub use compare::Found;
pub use plan::{Chunk, GraphPart, Plan, member_id, plan};
pub use write::{ChunkLoaded, check_assembling, draft, draft_opened};
