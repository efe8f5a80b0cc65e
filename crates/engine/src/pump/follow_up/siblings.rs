//! Upstreams a decided group no longer needs.

use std::collections::BTreeSet;

use ff_backend::load::{Load, Snapshot};
use ff_backend::query::Page;
use ff_core::fabric::Result;
use ff_core::id::ExecutionId;
use ff_core::limits::FOLLOW_UP_CHUNK;
use ff_core::machine::group::{self, Sibling};
use ff_core::machine::index::Index;
use ff_core::record::{Edge, RecordKey};
use futures::future::try_join_all;

use super::walk_positions::{ChunkDone, Occurrence, Purpose, Walk};
use super::{Progress, execution_context, walk};
use crate::engine::Engine;
use crate::snapshots::{group_counters, group_counts, merge};
use crate::transact::Decision;

/// Cancels a chunk of the upstreams of a decided group that nobody else needs.
pub(crate) async fn cancel_siblings_chunk(engine: &Engine, id: ExecutionId) -> Result<Progress> {
    let key = RecordKey::Execution(id);
    let walks = &engine.shared.walks;
    let locked = engine.lock(key.clone()).await;
    let decide = || async {
        let mut snapshot = locked.look(Engine::load_of(id)).await?;
        snapshot.listed = true;
        let found = snapshot.execution(&key).cloned().zip(Occurrence::of(&snapshot, &key));
        let Some((child, occurrence)) = found.filter(|(child, _)| child.follow_ups.cancel_siblings) else {
            return Ok(Decision::unchanged(snapshot, None));
        };
        let walk = Walk {
            record: key.clone(),
            purpose: Purpose::CancelSiblings,
            occurrence,
        };
        let inbound = engine.range(Index::EdgesInto(id));
        let walked = walk::read_chunk(engine, &[inbound], walks.position(&walk), Page::edges, |(edge, _)| {
            edge.is_unresolved()
        })
        .await?;
        let done = ChunkDone {
            next: walked.next.clone(),
            walk,
        };
        if walked.is_idle() {
            return Ok(Decision::unchanged(snapshot, Some(done)));
        }
        let upstreams: BTreeSet<_> = walked.rows.iter().map(|(edge, _)| edge.upstream).collect();
        // With the flow as it stands before anybody's outbound edges are looked at: the draft guards on it, and an edge
        // staged after this moment makes it conflict.
        let flow = child.definition.flow.map(RecordKey::Flow);
        let records: Vec<_> = upstreams
            .iter()
            .map(|upstream| RecordKey::Execution(*upstream))
            .chain(flow)
            .collect();
        let load = Load::records(id.partition(), records);
        merge(&mut snapshot, locked.load(load).await?);
        let siblings = siblings(engine, &snapshot, &upstreams, id).await?;
        let last = walked.is_last();
        let decided = group::cancel_siblings(&child, &siblings, last, &execution_context(engine, &snapshot, &child));
        Ok(Decision::Commit(snapshot, decided.map(|()| Some(done))))
    };
    let done = locked.transact(decide).await?;
    Ok(done.map_or(Progress::Done, |done| walks.advance(done)))
}

async fn siblings<'s>(
    engine: &Engine,
    snapshot: &'s Snapshot,
    upstreams: &BTreeSet<ExecutionId>,
    decided: ExecutionId,
) -> Result<Vec<Sibling<'s>>> {
    let there = upstreams
        .iter()
        .filter_map(|id| snapshot.execution(&RecordKey::Execution(*id)));
    let siblings = there.map(async |upstream| {
        let needed = !upstream.is_terminal() && is_needed(engine, upstream.id, decided).await?;
        Result::Ok(Sibling { upstream, needed })
    });
    try_join_all(siblings).await
}

/// Whether an upstream feeds another child whose group is not decided.
async fn is_needed(engine: &Engine, upstream: ExecutionId, decided: ExecutionId) -> Result<bool> {
    let mut pages = engine
        .store()
        .pages(engine.range(Index::EdgesFrom(upstream)), FOLLOW_UP_CHUNK);
    while let Some(page) = pages.next().await? {
        let edges: Vec<_> = page.edges().into_iter().map(|(edge, _)| edge).collect();
        if any_needs(engine, &edges, decided).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn any_needs(engine: &Engine, edges: &[Edge], decided: ExecutionId) -> Result<bool> {
    let others = edges.iter().map(|edge| edge.downstream);
    let others: BTreeSet<_> = others.filter(|other| *other != decided).collect();
    if others.is_empty() {
        return Ok(false);
    }
    let records: Vec<_> = others.iter().map(|other| RecordKey::Execution(*other)).collect();
    let counters = others.into_iter().flat_map(group_counters);
    let load = Load::records(decided.partition(), records).with_counters(counters);
    let found = engine.store().load(load).await?;
    let needs = |edge: &Edge| {
        let downstream = found.execution(&RecordKey::Execution(edge.downstream));
        let counts = group_counts(&found, edge.downstream);
        downstream.is_some_and(|downstream| group::needs(edge, downstream, &counts, decided))
    };
    Ok(edges.iter().any(needs))
}
