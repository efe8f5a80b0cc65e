//! stage_dependency_edge and apply_dependency_to_child.

use ff_backend::load::{Load, Snapshot};
use ff_backend::query::Page;
use ff_core::command::flow::{Applied, ApplyDependency, StageDependencyEdge, Staged};
use ff_core::error::{Code, Rejection};
use ff_core::fabric::{On, Result};
use ff_core::id::{EdgeId, ExecutionId, FlowId};
use ff_core::limits::PAGE_MAX;
use ff_core::machine::edge::{self, CycleSearch, CycleVerdict, Ends, Surroundings};
use ff_core::machine::index::Index;
use ff_core::record::{Edge, RecordKey};

use super::members::read_executions;
use crate::engine::Engine;
use crate::snapshots::{group_counters, group_counts, merge};
use crate::transact::Decision;

pub(crate) async fn stage_dependency_edge(engine: &Engine, command: On<FlowId, StageDependencyEdge>) -> Result<Staged> {
    let On { id, command } = command;
    let locked = engine.lock(RecordKey::Flow(id)).await;
    let decide = || async {
        // The flow comes first: every staging writes it, so whatever the graph gains after this makes this one conflict.
        let mut snapshot = locked.look(engine.load_of_flow(id)).await?;
        engine.visible_flow(&snapshot, id)?;
        read_ends(engine, &mut snapshot, command.upstream, command.downstream).await?;
        let existing = existing_edge(engine, id, &command).await?;
        let search = match &existing {
            // The answer does not depend on it.
            Some(_) => CycleVerdict::Clear,
            None => search(engine, &command).await?,
        };
        let namesake = namesake(engine, &command).await?;
        let around = Surroundings {
            existing: existing.as_ref(),
            namesake: namesake.as_ref(),
            search,
        };
        let read = engine.visible_flow(&snapshot, id)?;
        let counts = group_counts(&snapshot, command.downstream);
        let ends = Ends {
            upstream: engine.visible(&snapshot, command.upstream)?,
            downstream: engine.visible(&snapshot, command.downstream)?,
            counts: &counts,
        };
        let context = engine.context_of_flow(&snapshot, &read);
        let decided = edge::stage(read.loaded(), ends, &command, around, &context)?;
        Ok(Decision::Commit(snapshot, decided))
    };
    locked.transact(decide).await
}

pub(crate) async fn apply_dependency_to_child(
    engine: &Engine,
    command: On<FlowId, ApplyDependency>,
) -> Result<Applied> {
    let On {
        id,
        command: ApplyDependency { edge_id },
    } = command;
    let key = RecordKey::Edge(edge_id);
    let locked = engine.lock(RecordKey::Flow(id)).await;
    let decide = || async {
        let mut load = engine.load_of_flow(id);
        load.records.push(key.clone());
        let mut snapshot = locked.look(load).await?;
        engine.visible_flow(&snapshot, id)?;
        let found = snapshot.edge(&key).filter(|edge| edge.flow_id == id).cloned();
        let edge = found.ok_or_else(|| no_edge(edge_id))?;
        read_ends(engine, &mut snapshot, edge.upstream, edge.downstream).await?;
        let read = engine.visible_flow(&snapshot, id)?;
        let counts = group_counts(&snapshot, edge.downstream);
        let ends = Ends {
            upstream: engine.visible(&snapshot, edge.upstream)?,
            downstream: engine.visible(&snapshot, edge.downstream)?,
            counts: &counts,
        };
        let context = engine.context_of_flow(&snapshot, &read);
        let decided = edge::apply(&edge, read.loaded(), ends, &context)?;
        Ok(Decision::Commit(snapshot, decided))
    };
    locked.transact(decide).await
}

/// Adds both ends of a dependency, and what is counted over the group of the downstream.
async fn read_ends(
    engine: &Engine,
    snapshot: &mut Snapshot,
    upstream: ExecutionId,
    downstream: ExecutionId,
) -> Result<()> {
    read_executions(engine, snapshot, &[upstream, downstream]).await?;
    let counters = Load::records(snapshot.partition, []).with_counters(group_counters(downstream));
    merge(snapshot, engine.store().load(counters).await?);
    Ok(())
}

/// The edge with the new edge's id, or the one between the same two members, whatever its id is.
async fn existing_edge(engine: &Engine, flow_id: FlowId, command: &StageDependencyEdge) -> Result<Option<Edge>> {
    let (upstream, downstream) = (command.upstream, command.downstream);
    let derived = Edge::id_between(upstream, downstream);
    let mut keys: Vec<_> = command.edge_id.into_iter().map(RecordKey::Edge).collect();
    keys.push(RecordKey::Edge(derived));
    let found = engine
        .store()
        .load(Load::records(engine.home_of(flow_id), keys.clone()))
        .await?;
    if let Some(edge) = keys.iter().find_map(|key| found.edge(key)) {
        return Ok(Some(edge.clone()));
    }
    let mut pages = engine.store().pages(engine.range(Index::EdgesFrom(upstream)), PAGE_MAX);
    while let Some(page) = pages.next().await? {
        let same = page.edges().into_iter().find(|(edge, _)| edge.downstream == downstream);
        if let Some((edge, _)) = same {
            return Ok(Some(edge));
        }
    }
    Ok(None)
}

/// Looks for a path from the downstream back to the upstream.
async fn search(engine: &Engine, command: &StageDependencyEdge) -> Result<CycleVerdict> {
    let mut search = CycleSearch::new(command.downstream, command.upstream);
    loop {
        let frontier = search.next_frontier();
        if frontier.is_empty() {
            return Ok(search.verdict());
        }
        search.feed(&edges_from(engine, frontier).await?);
    }
}

/// Another edge into the downstream that hands its result over under the new edge's name.
async fn namesake(engine: &Engine, command: &StageDependencyEdge) -> Result<Option<Edge>> {
    let Some(name) = &command.data_passing_ref else {
        return Ok(None);
    };
    let inbound = Index::EdgesInto(command.downstream);
    let mut edges = edges_of(engine, vec![inbound]).await?.into_iter();
    Ok(edges.find(|edge| edge.data_passing_ref.as_ref() == Some(name)))
}

/// The edges out of executions of one flow, resolved or not.
pub(super) async fn edges_from(engine: &Engine, upstreams: impl IntoIterator<Item = ExecutionId>) -> Result<Vec<Edge>> {
    edges_of(engine, upstreams.into_iter().map(Index::EdgesFrom).collect()).await
}

pub(super) async fn edges_of(engine: &Engine, lists: Vec<Index>) -> Result<Vec<Edge>> {
    let edges = engine.store().list_all(engine.ranges(lists), Page::edges).await?;
    Ok(edges.into_iter().map(|(edge, _)| edge).collect())
}

fn no_edge(id: EdgeId) -> Rejection {
    Code::EdgeNotFound.because(format!("edge {id} does not exist"))
}
