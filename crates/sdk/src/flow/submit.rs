//! A flow on its way.

use std::sync::Arc;

use ff_core::command::flow::{Assembly, CreateFlow, CreateFlowWith, FlowGraph, GraphEdge, GraphMember};
use ff_core::fabric::Fabric;
use ff_core::id::FlowId;
use ff_core::name::{DataRef, FlowKind};
use uuid::Uuid;

use super::check::problems;
use super::graph::Graph;
use super::{Flow, FlowRun, lock};
use crate::client::Client;
use crate::error::{Error, Result};
use crate::submit::Draft;

impl Client {
    /// Submits a flow in one call: all of it, or nothing. Everything that is wrong with it is told at once, before it is sent.
    pub async fn submit_flow(&self, flow: Flow) -> Result<FlowRun> {
        let graph = lock(&flow.graph).clone();
        let checked = Checked::of(graph)?;
        self.ready().await?;
        let command = checked.command(self).await?;
        let created = self.create_flow_graph(command).await?;
        Ok(FlowRun::new(self.clone(), Arc::clone(&flow.graph), created))
    }
}

/// A flow that can be sent, but for what the codec adds.
struct Checked {
    flow: CreateFlowWith,
    members: Vec<(String, Draft, Option<ff_core::record::EdgeGroupPolicy>)>,
    edges: Vec<GraphEdge>,
}

impl Checked {
    fn of(graph: Graph) -> Result<Self> {
        let mut wrong = problems(&graph);
        let what = format!("flow {:?}", graph.kind);
        let kind = FlowKind::parse(&graph.kind)
            .map_err(|rejection| wrong.push(rejection.detail))
            .ok();
        let edges = edges(&graph, &mut wrong);
        let mut members = Vec::with_capacity(graph.members.len());
        for member in graph.members {
            match member.written.check() {
                Ok(draft) => members.push((member.key, draft, member.join)),
                Err(found) => wrong.extend(found.into_iter().map(|problem| format!("{}: {problem}", member.key))),
            }
        }
        match kind.filter(|_| wrong.is_empty()) {
            None => Err(Error::Invalid { what, problems: wrong }),
            Some(flow_kind) => Ok(Self {
                flow: CreateFlowWith {
                    // Named here, so that a repeated call meets itself.
                    flow_id: Some(graph.id.unwrap_or_else(|| FlowId::from_uuid(Uuid::now_v7()))),
                    definition: CreateFlow {
                        namespace: ff_core::name::Namespace::default_namespace(),
                        flow_kind,
                        tags: graph.tags,
                        retention: graph.retention,
                        assembly: Assembly::Assembling,
                    },
                },
                members,
                edges,
            }),
        }
    }

    async fn command(self, client: &Client) -> Result<FlowGraph> {
        let mut flow = self.flow;
        flow.definition.namespace = client.own_namespace().clone();
        let mut members = Vec::with_capacity(self.members.len());
        for (key, draft, join) in self.members {
            let mut submission = draft.member(client).await?;
            submission.edge_group_policy = join;
            members.push(GraphMember { key, submission });
        }
        Ok(FlowGraph {
            flow,
            members,
            edges: self.edges,
            open: true,
        })
    }
}

/// The dependencies as they are sent.
fn edges(graph: &Graph, wrong: &mut Vec<String>) -> Vec<GraphEdge> {
    let mut edges = Vec::new();
    for member in &graph.members {
        for edge in &member.edges {
            let passes = edge
                .passes
                .as_ref()
                .map(|passes| DataRef::parse(passes.name()))
                .transpose();
            match passes {
                Ok(data_passing_ref) => edges.push(GraphEdge {
                    upstream: graph.members[edge.upstream].key.clone(),
                    downstream: member.key.clone(),
                    dependency_kind: edge.kind,
                    data_passing_ref,
                }),
                Err(rejection) => wrong.push(format!("{}: {}", member.key, rejection.detail)),
            }
        }
    }
    edges
}
