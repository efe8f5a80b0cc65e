//! Edges out of an execution that has ended.

use ff_backend::query::Page;
use ff_core::fabric::Result;
use ff_core::id::ExecutionId;
use ff_core::machine::group;
use ff_core::machine::index::Index;
use ff_core::record::RecordKey;

use super::walk_positions::WalkPosition;
use super::{Progress, execution_context, walk};
use crate::engine::Engine;
use crate::snapshots::add_rows;
use crate::transact::Decision;

/// Resolves a chunk of the outbound edges of an execution that has ended. What is resolved is not listed again.
pub(crate) async fn resolve_edges_chunk(engine: &Engine, id: ExecutionId) -> Result<Progress> {
    let key = RecordKey::Execution(id);
    let locked = engine.lock(key.clone()).await;
    let decide = || async {
        // Read before the edges are listed: an edge applied since then has found the execution ended, or makes this
        // chunk conflict.
        let mut snapshot = locked.look(Engine::load_of(id)).await?;
        snapshot.listed = true;
        let found = snapshot.execution(&key).cloned();
        let Some(upstream) = found.filter(|upstream| upstream.follow_ups.resolve_edges) else {
            return Ok(Decision::unchanged(snapshot, Progress::Done));
        };
        let unresolved = engine.range(Index::UnresolvedFrom(id));
        let walked = walk::read_chunk(engine, &[unresolved], WalkPosition::default(), Page::edges, |_| true).await?;
        add_rows(&mut snapshot, &walked.rows);
        let last = walked.is_last();
        let edges: Vec<_> = walked.rows.into_iter().map(|(edge, _)| edge).collect();
        let decided = group::resolve_edges(
            &upstream,
            &edges,
            last,
            &execution_context(engine, &snapshot, &upstream),
        );
        let progress = if last { Progress::Done } else { Progress::More };
        Ok(Decision::Commit(snapshot, decided.map(|()| progress)))
    };
    locked.transact(decide).await
}
