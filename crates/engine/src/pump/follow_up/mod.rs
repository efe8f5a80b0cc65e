//! Follow-up work over flows and edges: what a record still owes to others, a bounded chunk at a time.
//!
//! | file | what is owed |
//! |---|---|
//! | `edges` | an ended execution resolves its outbound edges |
//! | `siblings` | a decided group cancels the upstreams it no longer needs |
//! | `reopen` | a replayed execution reopens the edges around it |
//! | `flow_members` | an opened flow lets its members go, a cancelled one cancels them |
//! | `deletion` | what nobody needs any more is deleted, parts first |
//! | `evaluate` | a nudged execution or flow is decided from its counters |
//! | `walk`, `walk_positions` | reading a chunk of a listing, and where the next one starts |
//!
//! A record is due until the last chunk clears the mark that says so. So every chunk may be lost, repeated, or done by two
//! processes at once: what one of them changed makes the other one conflict and look again.

mod deletion;
mod edges;
mod evaluate;
mod flow_members;
mod reopen;
mod siblings;
mod walk;
mod walk_positions;

pub(crate) use deletion::{delete_execution_chunk, delete_members_chunk};
pub(crate) use edges::resolve_edges_chunk;
pub(crate) use evaluate::{advance_flow, evaluate_execution};
pub(crate) use flow_members::{cancel_members_chunk, open_members_chunk};
pub(crate) use reopen::reopen_edges_chunk;
pub(crate) use siblings::cancel_siblings_chunk;
pub(crate) use walk_positions::Walks;

use ff_backend::load::Snapshot;
use ff_core::machine::Context;
use ff_core::record::{Actor, Execution, GateState};

use crate::engine::Engine;

/// How far a piece of follow-up work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Nothing is left.
    Done,
    /// There is another chunk.
    More,
    /// Something else has to happen first: look again a little later.
    Later,
}

/// The circumstances of follow-up work for an execution, which the engine does whoever caused it.
fn execution_context(engine: &Engine, snapshot: &Snapshot, execution: &Execution) -> Context {
    Context {
        actor: Actor::Engine,
        ..engine.context_of(snapshot, execution)
    }
}

/// The circumstances of follow-up work for a flow whose gate stands at `gate`.
fn flow_context(engine: &Engine, snapshot: &Snapshot, gate: GateState) -> Context {
    Context {
        actor: Actor::Engine,
        gate: Some(gate),
        ..engine.context(snapshot.now)
    }
}
