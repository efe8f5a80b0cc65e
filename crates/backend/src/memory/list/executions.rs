//! What is listed across partitions: executions, flows and lanes.

use std::cmp::Reverse;
use std::ops::Bound;

use ff_core::id::{ExecutionId, FlowId};
use ff_core::name::{LaneId, Namespace};
use ff_core::record::{Execution, Flow, Record, RecordKey};
use uuid::Uuid;

use super::super::catalog::Newest;
use super::super::flaw::Flaw;
use super::super::store::Store;
use super::{Cut, Found};
use crate::query::{ExecutionFilter, FlowFilter, LaneDepth, Rows};
use crate::transaction::Version;

impl Store {
    pub(super) fn list_executions(&self, filter: &ExecutionFilter, cut: &Cut) -> Found {
        let start = match (cut.after::<Newest<ExecutionId>>()?, filter.created_before) {
            (Some(after), _) => Bound::Excluded(after),
            (None, Some(before)) => Bound::Excluded((Reverse(before), Reverse(ExecutionId::new(0, Uuid::nil())))),
            (None, None) => Bound::Unbounded,
        };
        let created_from = filter.created_from.unwrap_or_default();
        let newest = self.catalog.executions.range((start, Bound::Unbounded));
        let newest =
            newest.take_while(|(Reverse(created_at), _)| *created_at >= created_from || self.shows_everything());
        let (rows, next) = cut.page(newest.map(|key| {
            let row = self.execution_row(key.1.0);
            (
                key,
                row.filter(|(execution, _)| filter.matches(execution) || self.shows_everything()),
            )
        }))?;
        Ok((Rows::Executions(rows), next))
    }

    pub(super) fn list_flows(&self, filter: &FlowFilter, cut: &Cut) -> Found {
        let newest = self
            .catalog
            .flows
            .range((cut.start::<Newest<FlowId>>()?, Bound::Unbounded));
        let (rows, next) = cut.page(newest.map(|(key, partition)| {
            let stored = self.stored(*partition, &RecordKey::Flow(key.1.0));
            let row = stored.and_then(|stored| match &stored.record {
                Record::Flow(flow) => Some((Flow::clone(flow), stored.version)),
                _ => None,
            });
            (
                key,
                row.filter(|(flow, _)| filter.matches(flow) || self.shows_everything()),
            )
        }))?;
        Ok((Rows::Flows(rows), next))
    }

    pub(super) fn list_lanes(&self, namespace: &Namespace, cut: &Cut) -> Found {
        let start = cut.start::<LaneId>()?;
        let lanes = self.catalog.depths.get(namespace).into_iter();
        let (rows, next) = cut.page(
            lanes
                .flat_map(|lanes| lanes.range((start.clone(), Bound::Unbounded)))
                .map(|(lane, depth)| {
                    let row = LaneDepth {
                        lane: lane.clone(),
                        depth: depth.clone(),
                        oldest_eligible: self.queues.oldest(namespace, lane),
                    };
                    (lane, Some(row))
                }),
        )?;
        Ok((Rows::Lanes(rows), next))
    }

    /// A row of any listing of executions.
    pub(super) fn execution_row(&self, id: ExecutionId) -> Option<(Execution, Version)> {
        self.execution(id)
            .map(|(execution, version)| (execution.clone(), version))
    }

    pub(super) fn shows_everything(&self) -> bool {
        self.flawed(Flaw::ListFiltersIgnored)
    }
}
