//! Flows, their members and dependencies.

use std::collections::BTreeMap;

use ff_core::command::flow::{
    Assembly, CancelFlow, CreateFlow, CreateFlowWith, FlowGraph, GraphEdge, GraphMember, MemberCancellation,
    StageDependencyEdge, Staged,
};
use ff_core::command::submit::{CreateExecution, DependsOn};
use ff_core::fabric::{On, Result};
use ff_core::id::{ExecutionId, FlowId};
use ff_core::name::{FlowKind, Namespace};
use ff_core::record::{CancelFlowPolicy, DependencyKind, EdgeGroupPolicy};
use ff_core::time::Duration;

use super::{Scene, submission};

impl Scene<'_> {
    /// An open flow with these members, each named and depending on others by their names.
    pub(crate) async fn flow(&self, members: &[(&str, &[&str])]) -> Graph {
        self.flow_with(members, |_| None, true).await
    }

    /// The same with group policies and without necessarily opening it.
    pub(crate) async fn flow_with(
        &self,
        members: &[(&str, &[&str])],
        policy: impl Fn(&str) -> Option<EdgeGroupPolicy>,
        open: bool,
    ) -> Graph {
        let mut graph = graph(members);
        for member in &mut graph.members {
            member.submission.edge_group_policy = policy(&member.key);
        }
        graph.open = open;
        self.build(graph).await
    }

    /// Builds a graph, and what follows from it is done.
    pub(crate) async fn build(&self, graph: FlowGraph) -> Graph {
        let names: Vec<_> = graph.members.iter().map(|member| member.key.clone()).collect();
        let created = self.fabric.create_flow_graph(graph).await.unwrap();
        self.settle().await;
        Graph {
            flow_id: created.flow_id,
            members: names.into_iter().zip(created.execution_ids).collect(),
        }
    }

    /// An open flow without members.
    pub(crate) async fn empty_flow(&self) -> FlowId {
        let command = CreateFlowWith {
            flow_id: None,
            definition: CreateFlow {
                assembly: Assembly::Open,
                ..flow_definition()
            },
        };
        self.fabric.create_flow(command).await.unwrap().flow_id
    }

    /// A new member that waits for these others.
    pub(crate) async fn join(&self, flow: FlowId, upstreams: &[ExecutionId]) -> ExecutionId {
        self.submit(into_flow(flow, upstreams)).await
    }

    /// Makes one member wait for another.
    pub(crate) async fn depend(&self, flow: FlowId, upstream: ExecutionId, downstream: ExecutionId) -> Result<Staged> {
        let staged = self
            .fabric
            .stage_dependency_edge(On::new(flow, dependency(upstream, downstream)))
            .await;
        self.settle().await;
        staged
    }

    /// Cancels a flow; its members may still be on their way.
    pub(crate) async fn cancel_flow(&self, flow: FlowId, policy: CancelFlowPolicy) -> Result<MemberCancellation> {
        let command = CancelFlow {
            reason: "enough".to_owned(),
            policy,
            wait: Duration::ZERO,
        };
        self.fabric.cancel_flow(On::new(flow, command)).await
    }
}

/// A flow and its members by name.
pub(crate) struct Graph {
    pub(crate) flow_id: FlowId,
    pub(crate) members: BTreeMap<String, ExecutionId>,
}

impl Graph {
    pub(crate) fn member(&self, name: &str) -> ExecutionId {
        self.members[name]
    }
}

/// A flow that is being assembled.
pub(crate) fn flow_definition() -> CreateFlow {
    CreateFlow {
        namespace: Namespace::default_namespace(),
        flow_kind: FlowKind::parse("graph").unwrap(),
        tags: BTreeMap::new(),
        retention: None,
        assembly: Assembly::Assembling,
    }
}

/// A whole graph of these members, each depending on others by their names.
pub(crate) fn graph(members: &[(&str, &[&str])]) -> FlowGraph {
    let edges = members
        .iter()
        .flat_map(|(key, upstreams)| upstreams.iter().map(|upstream| edge(upstream, key)));
    FlowGraph {
        flow: CreateFlowWith {
            flow_id: None,
            definition: flow_definition(),
        },
        members: members.iter().map(|(key, _)| graph_member(key)).collect(),
        edges: edges.collect(),
        open: true,
    }
}

/// A plain member of a graph.
pub(crate) fn graph_member(key: &str) -> GraphMember {
    GraphMember {
        key: key.to_owned(),
        submission: submission(),
    }
}

/// A dependency of a graph.
pub(crate) fn edge(upstream: &str, downstream: &str) -> GraphEdge {
    GraphEdge {
        upstream: upstream.to_owned(),
        downstream: downstream.to_owned(),
        dependency_kind: DependencyKind::SuccessOnly,
        data_passing_ref: None,
    }
}

/// A dependency that counts at once.
pub(crate) fn dependency(upstream: ExecutionId, downstream: ExecutionId) -> StageDependencyEdge {
    StageDependencyEdge {
        edge_id: None,
        upstream,
        downstream,
        dependency_kind: DependencyKind::SuccessOnly,
        data_passing_ref: None,
        expected_graph_revision: None,
        apply: true,
    }
}

/// The submission of a member that waits for these others.
pub(crate) fn into_flow(flow: FlowId, upstreams: &[ExecutionId]) -> CreateExecution {
    let depends_on = upstreams.iter().map(|upstream| DependsOn {
        edge_id: None,
        upstream: *upstream,
        dependency_kind: DependencyKind::SuccessOnly,
        data_passing_ref: None,
    });
    CreateExecution {
        flow_id: Some(flow),
        depends_on: depends_on.collect(),
        ..submission()
    }
}
