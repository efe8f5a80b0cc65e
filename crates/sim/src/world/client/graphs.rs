//! Whole graphs in one call, or in parts.

use ff_core::command::flow::{Assembly, CreateFlowWith, FlowGraph, GraphEdge, GraphMember};
use ff_core::id::FlowId;

use super::submit::{dependency_kind, group_policy};
use crate::world::actor::{Actor, call_once};
use crate::world::names;

impl Actor {
    /// A graph of a few members, most of which wait for some of those before them. Sometimes in two parts, and sometimes
    /// the second one never comes.
    pub(super) async fn create_graph(&self) {
        let flow = CreateFlowWith {
            flow_id: Some(FlowId::from_uuid(self.luck.uuid())),
            definition: self.flow_definition(Assembly::Assembling),
        };
        let first = self.luck.between(2, 5);
        let whole = self.luck.flip();
        self.create_part(flow.clone(), 0..first, whole).await;
        if !whole && !self.luck.one_in(6) {
            self.create_part(flow, first..first + self.luck.between(1, 3), true)
                .await;
        }
    }

    async fn create_part(&self, flow: CreateFlowWith, numbers: std::ops::Range<u64>, open: bool) {
        let namespace = flow.definition.namespace.clone();
        let key = |number: u64| format!("m{number}");
        let members = numbers.clone().map(|number| {
            let mut submission = self.submission(namespace.clone());
            submission.execution_id = None;
            submission.idempotency_key = None;
            submission.edge_group_policy = self.luck.flip().then(|| group_policy(&self.luck));
            let key = key(number);
            GraphMember { key, submission }
        });
        let members = members.collect();
        let edges = numbers.flat_map(|downstream| (0..downstream).map(move |upstream| (upstream, downstream)));
        let edges = edges
            .filter(|_| self.luck.one_in(2))
            .map(|(upstream, downstream)| GraphEdge {
                upstream: key(upstream),
                downstream: key(downstream),
                dependency_kind: dependency_kind(&self.luck),
                data_passing_ref: self.luck.one_in(3).then(|| names::data_ref(&key(upstream))),
            });
        let command = FlowGraph {
            flow,
            members,
            edges: edges.collect(),
            open,
        };
        if let Some(created) = call_once!(self, create_flow_graph, command).await.told() {
            self.learn_flow(created.flow_id, namespace);
            for id in created.execution_ids {
                self.stage.tally().executions += 1;
                self.stage.watch.accepted(id);
                self.board.learn(id, Some(created.flow_id));
            }
        }
    }
}
