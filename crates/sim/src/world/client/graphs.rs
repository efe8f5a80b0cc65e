//! Whole graphs in one call, or in parts; parts that are sent again, as they were or with more in them.

use ff_core::command::flow::{Assembly, CreateFlowWith, FlowGraph, GraphEdge, GraphMember};
use ff_core::id::FlowId;
use ff_core::machine::graph::member_id;
use ff_core::record::Edge;

use super::submit::{dependency_kind, group_policy};
use crate::invariants::GraphPromise;
use crate::world::actor::{Actor, call_once};
use crate::world::names;

/// Members of a graph that does not fit into one transaction, when each waits for nearly all of those before it.
const MEMBERS_OF_A_DENSE_GRAPH: u64 = 12;

impl Actor {
    /// A graph of a few members, most of which wait for some of those before them. Sometimes in two parts, and sometimes
    /// the second one never comes.
    pub(super) async fn create_graph(&self) {
        let flow = CreateFlowWith {
            flow_id: Some(FlowId::from_uuid(self.luck.uuid())),
            definition: self.flow_definition(Assembly::Assembling),
        };
        let dense = self.luck.one_in(8);
        let first = if dense {
            MEMBERS_OF_A_DENSE_GRAPH
        } else {
            self.luck.between(2, 5)
        };
        let whole = self.luck.flip();
        let mut part = self.part(flow.clone(), 0..first, dense);
        part.open = whole;
        self.send_part(part).await;
        if !whole && !self.luck.one_in(6) {
            let mut part = self.part(flow, first..first + self.luck.between(1, 3), false);
            part.open = true;
            self.send_part(part).await;
        }
    }

    /// Sends a part once more: as it was, grown by members or by edges, changed, or only to open the flow. What was accepted
    /// of it is there afterwards, however much of it was there before.
    pub(super) async fn send_part_again(&self) {
        // Whoever makes a graph in parts sends all of it the next time.
        let Some(mut part) = self.board.graph(&self.luck) else {
            return;
        };
        let members = part.members.len() as u64;
        match self.luck.below(6) {
            0 => {}
            1 | 2 => {
                let more = self.part(part.flow.clone(), members..members + self.luck.between(1, 3), false);
                part.members.extend(more.members);
                part.edges.extend(more.edges);
            }
            3 | 4 => self.add_edges(&mut part),
            _ => {
                let changed = self.luck.index(part.members.len());
                part.members[changed].submission.execution_kind = names::kind("other");
            }
        }
        part.open = self.luck.one_in(3);
        self.send_part(part).await;
    }

    /// Members with these numbers, and edges into them.
    fn part(&self, flow: CreateFlowWith, numbers: std::ops::Range<u64>, dense: bool) -> FlowGraph {
        let namespace = flow.definition.namespace.clone();
        let members = numbers.clone().map(|number| {
            let mut submission = self.nameless(namespace.clone());
            submission.edge_group_policy = self.luck.flip().then(|| group_policy(&self.luck));
            let key = key(number);
            GraphMember { key, submission }
        });
        let members = members.collect();
        let edges = numbers.flat_map(|downstream| (0..downstream).map(move |upstream| (upstream, downstream)));
        let edges = edges
            .filter(|_| if dense { !self.luck.one_in(16) } else { self.luck.flip() })
            .map(|(upstream, downstream)| self.graph_edge(upstream, downstream));
        FlowGraph {
            flow,
            members,
            edges: edges.collect(),
            open: false,
        }
    }

    fn graph_edge(&self, upstream: u64, downstream: u64) -> GraphEdge {
        GraphEdge {
            upstream: key(upstream),
            downstream: key(downstream),
            dependency_kind: dependency_kind(&self.luck),
            data_passing_ref: self.luck.one_in(3).then(|| names::data_ref(&key(upstream))),
        }
    }

    /// Some of the edges a part could have and has not.
    fn add_edges(&self, part: &mut FlowGraph) {
        let members = part.members.len() as u64;
        for (upstream, downstream) in (0..members).flat_map(|to| (0..to).map(move |from| (from, to))) {
            let is_it = |edge: &GraphEdge| edge.upstream == key(upstream) && edge.downstream == key(downstream);
            if self.luck.one_in(3) && !part.edges.iter().any(is_it) {
                part.edges.push(self.graph_edge(upstream, downstream));
            }
        }
    }

    async fn send_part(&self, part: FlowGraph) {
        let namespace = part.flow.definition.namespace.clone();
        let failovers = self.stage.watch.failovers();
        let Some(created) = call_once!(self, create_flow_graph, part.clone()).await.told() else {
            return;
        };
        self.learn_flow(created.flow_id, namespace);
        for id in &created.execution_ids {
            self.stage.tally().executions += 1;
            self.stage.watch.accepted(*id);
            self.board.learn(*id, Some(created.flow_id));
        }
        if self.stage.watch.failovers() == failovers {
            self.stage.watch.accepted_graph(&self.promise(&part, created.flow_id));
        }
        self.board.learn_graph(part);
    }

    /// What an accepted part says is there.
    fn promise(&self, part: &FlowGraph, flow_id: FlowId) -> GraphPromise {
        let id = |key: &str| member_id(flow_id, self.board.counts.of_flow(flow_id), key);
        let members = part.members.iter();
        let edges = part.edges.iter();
        GraphPromise {
            flow_id,
            members: members
                .map(|member| (id(&member.key), member.submission.execution_kind.clone()))
                .collect(),
            edges: edges
                .map(|edge| Edge::id_between(id(&edge.upstream), id(&edge.downstream)))
                .collect(),
        }
    }
}

fn key(number: u64) -> String {
    format!("m{number}")
}
