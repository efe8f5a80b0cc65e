//! What is listed across partitions.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use ff_core::id::{EdgeId, ExecutionId, FlowId};
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::Partition;
use ff_core::record::{Edge, EdgeState, Execution, Flow, Record};
use ff_core::state::{PublicState, public_state};
use ff_core::time::Timestamp;

use super::groups::Groups;

/// The place of something in a listing that shows the newest first.
pub(super) type Newest<I> = (Reverse<Timestamp>, Reverse<I>);

/// Lists over all partitions.
#[derive(Clone, Default)]
pub(super) struct Catalog {
    pub(super) executions: BTreeSet<Newest<ExecutionId>>,
    pub(super) flows: BTreeMap<Newest<FlowId>, Partition>,
    pub(super) members: Groups<FlowId, ExecutionId>,
    pub(super) open_members: Groups<FlowId, ExecutionId>,
    pub(super) edges_from: Groups<ExecutionId, EdgeId>,
    pub(super) unresolved_from: Groups<ExecutionId, EdgeId>,
    pub(super) edges_into: Groups<ExecutionId, EdgeId>,
    /// How many executions of a lane are in which state; none is no entry.
    pub(super) depths: BTreeMap<Namespace, BTreeMap<LaneId, BTreeMap<PublicState, u64>>>,
}

impl Catalog {
    /// Lists a record.
    pub(super) fn insert(&mut self, partition: Partition, record: &Record) {
        match record {
            Record::Execution(execution) => self.insert_execution(execution),
            Record::Flow(flow) => {
                self.flows.insert(newest_flow(flow), partition);
            }
            Record::Edge(edge) => self.insert_edge(edge),
            _ => {}
        }
    }

    /// Lists a record no longer; it must be as it was when it was inserted.
    pub(super) fn remove(&mut self, record: &Record) {
        match record {
            Record::Execution(execution) => self.remove_execution(execution),
            Record::Flow(flow) => {
                self.flows.remove(&newest_flow(flow));
            }
            Record::Edge(edge) => self.remove_edge(edge),
            _ => {}
        }
    }

    fn insert_execution(&mut self, execution: &Execution) {
        self.executions.insert(newest_execution(execution));
        *self.depth(execution).entry(public_state(execution)).or_default() += 1;
        if let Some(flow_id) = execution.definition.flow {
            self.members.insert(flow_id, execution.id);
            if !execution.is_terminal() {
                self.open_members.insert(flow_id, execution.id);
            }
        }
    }

    fn remove_execution(&mut self, execution: &Execution) {
        self.executions.remove(&newest_execution(execution));
        self.uncount(execution);
        if let Some(flow_id) = execution.definition.flow {
            self.members.remove(&flow_id, &execution.id);
            self.open_members.remove(&flow_id, &execution.id);
        }
    }

    fn depth(&mut self, execution: &Execution) -> &mut BTreeMap<PublicState, u64> {
        let definition = &execution.definition;
        let lanes = self.depths.entry(definition.namespace.clone()).or_default();
        lanes.entry(definition.lane.clone()).or_default()
    }

    fn uncount(&mut self, execution: &Execution) {
        let definition = &execution.definition;
        let depth = self.depth(execution);
        if let Some(count) = depth.get_mut(&public_state(execution)) {
            *count -= 1;
        }
        depth.retain(|_, count| *count > 0);
        if depth.is_empty()
            && let Some(lanes) = self.depths.get_mut(&definition.namespace)
        {
            lanes.remove(&definition.lane);
        }
    }

    fn insert_edge(&mut self, edge: &Edge) {
        self.edges_from.insert(edge.upstream, edge.id);
        self.edges_into.insert(edge.downstream, edge.id);
        if edge.state == EdgeState::Unresolved {
            self.unresolved_from.insert(edge.upstream, edge.id);
        }
    }

    fn remove_edge(&mut self, edge: &Edge) {
        self.edges_from.remove(&edge.upstream, &edge.id);
        self.edges_into.remove(&edge.downstream, &edge.id);
        self.unresolved_from.remove(&edge.upstream, &edge.id);
    }
}

fn newest_execution(execution: &Execution) -> Newest<ExecutionId> {
    (Reverse(execution.definition.created_at), Reverse(execution.id))
}

fn newest_flow(flow: &Flow) -> Newest<FlowId> {
    (Reverse(flow.created_at), Reverse(flow.id))
}
