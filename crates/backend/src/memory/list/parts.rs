//! What belongs to one flow or one execution: members, edges, attempts, waitpoints, signals.

use std::ops::Bound;

use ff_core::id::{EdgeId, ExecutionId, FlowId, SignalId, WaitpointId};
use ff_core::record::{Edge, Record, RecordKey, Signal, Waitpoint};
use uuid::Uuid;

use super::super::store::{Store, Stored};
use super::{Cut, Found};
use crate::query::Rows;
use crate::transaction::Version;

impl Store {
    pub(super) fn list_members(&self, flow_id: FlowId, open_only: bool, cut: &Cut) -> Found {
        let open_only = open_only && !self.shows_everything();
        let members = if open_only {
            &self.catalog.open_members
        } else {
            &self.catalog.members
        };
        let after = cut.after::<ExecutionId>()?;
        let (rows, next) = cut.page(
            members
                .after(&flow_id, after.as_ref())
                .map(|id| (id, self.execution_row(*id))),
        )?;
        Ok((Rows::Executions(rows), next))
    }

    pub(super) fn list_edges_from(&self, upstream: ExecutionId, unresolved_only: bool, cut: &Cut) -> Found {
        let unresolved_only = unresolved_only && !self.shows_everything();
        let edges = if unresolved_only {
            &self.catalog.unresolved_from
        } else {
            &self.catalog.edges_from
        };
        let after = cut.after::<EdgeId>()?;
        let (rows, next) = cut.page(
            edges
                .after(&upstream, after.as_ref())
                .map(|id| (id, self.edge_row(upstream, *id))),
        )?;
        Ok((Rows::Edges(rows), next))
    }

    pub(super) fn list_edges_into(&self, downstream: ExecutionId, cut: &Cut) -> Found {
        let after = cut.after::<EdgeId>()?;
        let edges = self.catalog.edges_into.after(&downstream, after.as_ref());
        let (rows, next) = cut.page(edges.map(|id| (id, self.edge_row(downstream, *id))))?;
        Ok((Rows::Edges(rows), next))
    }

    /// Both ends of an edge live in its partition.
    fn edge_row(&self, end: ExecutionId, id: EdgeId) -> Option<(Edge, Version)> {
        let stored = self.stored(end.partition(), &RecordKey::Edge(id))?;
        match &stored.record {
            Record::Edge(edge) => Some((Edge::clone(edge), stored.version)),
            _ => None,
        }
    }

    pub(super) fn list_attempts(&self, id: ExecutionId, cut: &Cut) -> Found {
        let start = cut.start::<u32>()?.map(|index| RecordKey::Attempt(id, index));
        let from = or_first(start, RecordKey::Attempt(id, 0));
        let (rows, next) = cut.page(
            self.records_between(id, from, RecordKey::Attempt(id, u32::MAX))
                .filter_map(|stored| match &stored.record {
                    Record::Attempt(_, attempt) => Some((attempt.index, Some((**attempt).clone()))),
                    _ => None,
                }),
        )?;
        Ok((Rows::Attempts(rows), next))
    }

    pub(super) fn list_waitpoints(&self, id: ExecutionId, cut: &Cut) -> Found {
        let key = |uuid| RecordKey::Waitpoint(id, WaitpointId::from_uuid(uuid));
        let start = cut
            .start::<WaitpointId>()?
            .map(|waitpoint_id| RecordKey::Waitpoint(id, waitpoint_id));
        let from = or_first(start, key(Uuid::nil()));
        let (rows, next) =
            cut.page(
                self.records_between(id, from, key(Uuid::max()))
                    .filter_map(|stored| match &stored.record {
                        Record::Waitpoint(waitpoint) => {
                            Some((waitpoint.id, Some((Waitpoint::clone(waitpoint), stored.version))))
                        }
                        _ => None,
                    }),
            )?;
        Ok((Rows::Waitpoints(rows), next))
    }

    pub(super) fn list_signals(&self, id: ExecutionId, cut: &Cut, admits: impl Fn(&Signal) -> bool) -> Found {
        let key = |uuid| RecordKey::Signal(id, SignalId::from_uuid(uuid));
        let start = cut
            .start::<SignalId>()?
            .map(|signal_id| RecordKey::Signal(id, signal_id));
        let from = or_first(start, key(Uuid::nil()));
        let (rows, next) =
            cut.page(
                self.records_between(id, from, key(Uuid::max()))
                    .filter_map(|stored| match &stored.record {
                        Record::Signal(signal) if admits(signal) => Some((signal.id, Some((**signal).clone()))),
                        _ => None,
                    }),
            )?;
        Ok((Rows::Signals(rows), next))
    }

    fn records_between(
        &self,
        id: ExecutionId,
        from: Bound<RecordKey>,
        last: RecordKey,
    ) -> impl Iterator<Item = &Stored> {
        let partition = self.partitions.get(&id.partition()).into_iter();
        let records = partition.flat_map(move |partition| partition.records.range((from.clone(), Bound::Unbounded)));
        records
            .take_while(move |(key, _)| **key <= last)
            .map(|(_, stored)| stored)
    }
}

fn or_first(start: Bound<RecordKey>, first: RecordKey) -> Bound<RecordKey> {
    match start {
        Bound::Unbounded => Bound::Included(first),
        start => start,
    }
}
