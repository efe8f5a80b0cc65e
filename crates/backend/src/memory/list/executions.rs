//! What is listed across partitions: executions, flows and lanes.

use std::cmp::Reverse;
use std::ops::Bound;

use ff_core::id::{ExecutionId, FlowId};
use ff_core::name::{LaneId, Namespace};
use ff_core::record::{Execution, Flow, Record, RecordKey};
use ff_core::state::public_state;
use ff_core::time::Timestamp;
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
                row.filter(|(execution, _)| admits(filter, execution) || self.shows_everything()),
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
                row.filter(|(flow, _)| admits_flow(filter, flow) || self.shows_everything()),
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

fn admits(filter: &ExecutionFilter, execution: &Execution) -> bool {
    let definition = &execution.definition;
    let created_at: Timestamp = definition.created_at;
    agrees(filter.namespace.as_ref(), &definition.namespace)
        && agrees(filter.lane.as_ref(), &definition.lane)
        && agrees(filter.state.as_ref(), &public_state(execution))
        && agrees(filter.kind.as_ref(), &definition.kind)
        && filter
            .tag
            .as_ref()
            .is_none_or(|(key, value)| execution.tags.get(key) == Some(value))
        && filter.flow_id.is_none_or(|flow_id| definition.flow == Some(flow_id))
        && filter.created_from.is_none_or(|from| created_at >= from)
        && filter.created_before.is_none_or(|before| created_at < before)
}

fn admits_flow(filter: &FlowFilter, flow: &Flow) -> bool {
    agrees(filter.namespace.as_ref(), &flow.namespace)
        && agrees(filter.kind.as_ref(), &flow.kind)
        && filter
            .tag
            .as_ref()
            .is_none_or(|(key, value)| flow.tags.get(key) == Some(value))
}

fn agrees<T: PartialEq>(wanted: Option<&T>, value: &T) -> bool {
    wanted.is_none_or(|wanted| wanted == value)
}
