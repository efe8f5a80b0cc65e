//! Flows to measure with.

use std::ops::Range;

use ff_core::command::flow::{Assembly, CreateFlow, CreateFlowWith, FlowGraph, GraphEdge, GraphMember};
use ff_core::fabric::Fabric;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::name::{FlowKind, Namespace};
use ff_core::record::{DependencyKind, Tags};

use super::submit::task;

/// Members of one call.
const PART: usize = 500;

/// What a flow is like.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) members: usize,
    /// Bytes of every input.
    pub(super) payload: usize,
    /// Whether each member waits for the one before it; otherwise all of them may run at once.
    pub(super) chained: bool,
}

/// Submits a flow; its members, in their order.
pub(super) async fn submit_flow(fabric: &dyn Fabric, shape: Shape) -> anyhow::Result<(FlowId, Vec<ExecutionId>)> {
    let flow_id = FlowId::from_uuid(uuid::Uuid::now_v7());
    let mut ids = Vec::with_capacity(shape.members);
    while ids.len() < shape.members {
        let part = ids.len()..shape.members.min(ids.len() + PART);
        ids.extend(
            fabric
                .create_flow_graph(graph(flow_id, shape, part)?)
                .await?
                .execution_ids,
        );
    }
    Ok((flow_id, ids))
}

fn graph(flow_id: FlowId, shape: Shape, part: Range<usize>) -> anyhow::Result<FlowGraph> {
    let submission = task(shape.payload)?;
    let member = |number: usize| GraphMember {
        key: number.to_string(),
        submission: submission.clone(),
    };
    let edge = |number: usize| GraphEdge {
        upstream: (number - 1).to_string(),
        downstream: number.to_string(),
        dependency_kind: DependencyKind::SuccessOnly,
        data_passing_ref: None,
    };
    let chained = part.clone().filter(|number| shape.chained && *number > 0);
    Ok(FlowGraph {
        flow: CreateFlowWith {
            flow_id: Some(flow_id),
            definition: CreateFlow {
                namespace: Namespace::default_namespace(),
                flow_kind: FlowKind::parse("bench")?,
                tags: Tags::new(),
                retention: None,
                assembly: Assembly::Assembling,
            },
        },
        edges: chained.map(edge).collect(),
        open: part.end == shape.members,
        members: part.map(member).collect(),
    })
}
