//! Edges around a replayed execution.

use std::collections::BTreeSet;

use ff_backend::load::{Load, Snapshot};
use ff_backend::query::{Page, Range};
use ff_core::fabric::Result;
use ff_core::id::ExecutionId;
use ff_core::machine::Decided;
use ff_core::machine::index::Index;
use ff_core::machine::reopen::{self, Reopened};
use ff_core::record::{Edge, EdgeState, Execution, RecordKey};

use super::walk_positions::{ChunkDone, Occurrence, Purpose, Walk};
use super::{Progress, execution_context, walk};
use crate::engine::Engine;
use crate::snapshots::{add_rows, group_counters, group_counts, merge};
use crate::transact::Decision;

/// What reopening a chunk of edges came to.
struct Chunk {
    reopened: Reopened,
    done: ChunkDone,
}

/// Reopens a chunk of the failed edges around a replayed execution, the inbound ones first.
pub(crate) async fn reopen_edges_chunk(engine: &Engine, id: ExecutionId) -> Result<Progress> {
    let key = RecordKey::Execution(id);
    let walks = &engine.shared.walks;
    let locked = engine.lock(key.clone()).await;
    let decide = || async {
        let mut snapshot = locked.look(Engine::load_of(id)).await?;
        snapshot.listed = true;
        let found = snapshot.execution(&key).cloned().zip(Occurrence::of(&snapshot, &key));
        let Some((replayed, occurrence)) = found.filter(|(replayed, _)| replayed.follow_ups.reopen_edges) else {
            return Ok(Decision::unchanged(snapshot, None));
        };
        let walk = Walk {
            record: key.clone(),
            purpose: Purpose::ReopenEdges,
            occurrence,
        };
        let walked = walk::read_chunk(
            engine,
            &around(engine, id),
            walks.position(&walk),
            Page::edges,
            |(edge, _)| edge.state == EdgeState::Failed,
        )
        .await?;
        let done = ChunkDone {
            next: walked.next.clone(),
            walk,
        };
        if walked.is_idle() {
            let reopened = Reopened::More;
            return Ok(Decision::unchanged(snapshot, Some(Chunk { reopened, done })));
        }
        let last = walked.is_last();
        add_rows(&mut snapshot, &walked.rows);
        let edges: Vec<_> = walked.rows.into_iter().map(|(edge, _)| edge).collect();
        merge(&mut snapshot, locked.load(load_of_ends(id, &edges)).await?);
        let decided = reopen_chunk(engine, &replayed, &edges, last, &snapshot);
        let decided = decided.map(|reopened| Some(Chunk { reopened, done }));
        Ok(Decision::Commit(snapshot, decided))
    };
    let chunk = locked.transact(decide).await?;
    Ok(chunk.map_or(Progress::Done, |chunk| chunk_done(engine, chunk)))
}

fn reopen_chunk(
    engine: &Engine,
    replayed: &Execution,
    edges: &[Edge],
    last: bool,
    snapshot: &Snapshot,
) -> Decided<Reopened> {
    let other = |edge: &Edge| snapshot.execution(&RecordKey::Execution(other_end(edge, replayed.id)));
    let pairs = || edges.iter().filter_map(|edge| Some((edge, other(edge)?)));
    let inbound: Vec<_> = pairs().filter(|(edge, _)| edge.downstream == replayed.id).collect();
    let outbound: Vec<_> = pairs()
        .filter(|(edge, _)| edge.upstream == replayed.id)
        .map(|(edge, child)| (edge, child, group_counts(snapshot, child.id)))
        .collect();
    let page = reopen::Page {
        inbound: &inbound,
        outbound: &outbound,
        last,
    };
    reopen::reopen_edges(replayed, page, &execution_context(engine, snapshot, replayed))
}

fn chunk_done(engine: &Engine, chunk: Chunk) -> Progress {
    let Chunk { reopened, done } = chunk;
    let walks = &engine.shared.walks;
    match reopened {
        Reopened::More => walks.advance(done),
        Reopened::Done | Reopened::Pointless => walks.advance(ChunkDone { next: None, ..done }),
        Reopened::StartOver => {
            walks.advance(ChunkDone { next: None, ..done });
            Progress::Later
        }
    }
}

fn around(engine: &Engine, id: ExecutionId) -> [Range; 2] {
    [Index::EdgesInto(id), Index::EdgesFrom(id)].map(|index| engine.range(index))
}

fn other_end(edge: &Edge, id: ExecutionId) -> ExecutionId {
    if edge.upstream == id {
        edge.downstream
    } else {
        edge.upstream
    }
}

/// The executions at the other ends, and what is counted over the groups of those that are children.
fn load_of_ends(id: ExecutionId, edges: &[Edge]) -> Load {
    let others: BTreeSet<_> = edges.iter().map(|edge| other_end(edge, id)).collect();
    let others: Vec<_> = others.into_iter().map(RecordKey::Execution).collect();
    let children = edges.iter().filter(|edge| edge.upstream == id);
    Load::records(id.partition(), others).with_counters(children.flat_map(|edge| group_counters(edge.downstream)))
}
