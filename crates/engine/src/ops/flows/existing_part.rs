//! What of a part of a graph is in its flow already, and the edges around it.

use std::collections::BTreeSet;

use ff_backend::load::{Load, Snapshot};
use ff_core::fabric::Result;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::limits::PAGE_MAX;
use ff_core::machine::graph::{Chunk, ClosingSearch, Found};
use ff_core::machine::index::Index;
use ff_core::record::{Edge, Record, RecordKey};

use super::FlowRead;
use super::edges::{edges_from, edges_of};
use crate::engine::Engine;
use crate::snapshots::merge;

/// What the store has of a part of a graph, and of the flow it goes to.
pub(super) struct ExistingPart {
    flow_id: FlowId,
    pub(super) snapshot: Snapshot,
    /// Edges whose ids do not follow from what they join.
    inbound: Vec<Edge>,
}

impl ExistingPart {
    /// Looks for everything these chunks add. Where there are no members, there are no edges into them.
    pub(super) async fn look(engine: &Engine, flow_id: FlowId, chunks: &[Chunk]) -> Result<Self> {
        let mut load = engine.load_of_flow(flow_id);
        let members: BTreeSet<_> = chunks.iter().flat_map(Chunk::members).collect();
        load.records.extend(members.into_iter().map(RecordKey::Execution));
        let mut existing = Self::of(flow_id, engine.store().load(load).await?);
        let there = |id| existing.snapshot.execution(&RecordKey::Execution(id)).is_some();
        let edges: Vec<_> = chunks
            .iter()
            .flat_map(Chunk::dependencies)
            .filter(|(_, downstream)| there(*downstream))
            .map(edge_key)
            .collect();
        for keys in edges.chunks(PAGE_MAX) {
            let load = Load::records(existing.snapshot.partition, keys);
            merge(&mut existing.snapshot, engine.store().load(load).await?);
        }
        existing.read_other_edges(engine, chunks).await?;
        Ok(existing)
    }

    /// What was found of a chunk, and nothing else yet.
    pub(super) const fn of(flow_id: FlowId, snapshot: Snapshot) -> Self {
        Self {
            flow_id,
            snapshot,
            inbound: Vec::new(),
        }
    }

    /// Everything a chunk is decided from, in one read.
    pub(super) fn load(engine: &Engine, flow_id: FlowId, chunk: &Chunk) -> Load {
        let mut load = engine.load_of_flow(flow_id);
        // An upstream of another partition is of no flow of this one, which the rules find out by its absence.
        let executions = chunk.executions().into_iter();
        let executions = executions.filter(|id| id.partition() == load.partition);
        load.records = std::mem::take(&mut load.records)
            .into_iter()
            .chain(executions.map(RecordKey::Execution))
            .chain(chunk.dependencies().map(edge_key))
            .collect();
        load
    }

    /// Looks for the other edges of members that are there and lack some: one of them may join the same two members under
    /// an id it was given, or hand its result over under the same name.
    pub(super) async fn read_other_edges(&mut self, engine: &Engine, chunks: &[Chunk]) -> Result<()> {
        let lacking: BTreeSet<_> = chunks
            .iter()
            .flat_map(Chunk::dependencies)
            .filter(|pair| !self.snapshot.records.contains_key(&edge_key(*pair)))
            .map(|(_, downstream)| downstream)
            .filter(|id| self.snapshot.execution(&RecordKey::Execution(*id)).is_some())
            .collect();
        let lists: Vec<Index> = lacking.into_iter().map(Index::EdgesInto).collect();
        for lists in lists.chunks(PAGE_MAX) {
            self.inbound.extend(edges_of(engine, lists.to_vec()).await?);
        }
        Ok(())
    }

    /// Refuses what closes a cycle: only an edge into a member that is there can.
    pub(super) async fn check_acyclic(&self, engine: &Engine, missing: &[Chunk]) -> Result<()> {
        let found = self.found();
        let gaining: BTreeSet<ExecutionId> = missing.iter().flat_map(|chunk| chunk.gaining(&found)).collect();
        let mut search = ClosingSearch::new(gaining, missing.iter().flat_map(Chunk::dependencies));
        loop {
            let frontier = search.next_frontier();
            if frontier.is_empty() {
                return search.check();
            }
            search.feed(&edges_from(engine, frontier).await?);
        }
    }

    /// What was found, as it is compared with a part.
    pub(super) fn found(&self) -> Found<'_> {
        let records = || self.snapshot.records.values();
        let executions = records().filter_map(|(record, _)| match record {
            Record::Execution(execution) => Some(&**execution),
            _ => None,
        });
        let edges = records().filter_map(|(record, _)| match record {
            Record::Edge(edge) => Some(&**edge),
            _ => None,
        });
        Found::new(executions, edges.chain(&self.inbound))
    }

    pub(super) fn flow(&self) -> Option<FlowRead<'_>> {
        FlowRead::of(&self.snapshot, self.flow_id)
    }

    /// Whether the flow was opened, whatever became of it since.
    pub(super) fn was_opened(&self) -> bool {
        self.flow().is_some_and(|read| read.flow.opened_at.is_some())
    }
}

fn edge_key((upstream, downstream): (ExecutionId, ExecutionId)) -> RecordKey {
    RecordKey::Edge(Edge::id_between(upstream, downstream))
}
