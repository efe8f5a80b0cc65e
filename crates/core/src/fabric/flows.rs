//! Flows: graphs of executions.

use async_trait::async_trait;

use super::{On, Result};
use crate::command::flow::{
    Applied, CancelFlow, CreateFlowWith, CreatedFlow, FlowGraph, GraphCreated, Joined, MemberCancellation, Opened,
    SetEdgeGroupPolicy, StageDependencyEdge, Staged,
};
use crate::command::operator::{Changed, SetTags};
use crate::command::page::{Page, PageRequest};
use crate::id::{EdgeId, ExecutionId, FlowId};
use crate::record::{Edge, Tags};
use crate::view::{ExecutionView, FlowView, GroupView, ListFlows};

/// Flows: graphs of executions.
#[async_trait]
pub trait Flows: Send + Sync {
    /// Creates a flow.
    async fn create_flow(&self, command: CreateFlowWith) -> Result<CreatedFlow>;

    /// Makes a solo execution of the flow's partition a member.
    async fn add_execution_to_flow(&self, command: On<FlowId, ExecutionId>) -> Result<Joined>;

    /// Adds members and dependencies in one call; nothing runs before all of it is there.
    async fn create_flow_graph(&self, command: FlowGraph) -> Result<GraphCreated>;

    /// Lets the members of an assembling flow go.
    async fn open_flow(&self, id: FlowId) -> Result<Opened>;

    /// Adds a dependency between two members.
    async fn stage_dependency_edge(&self, command: On<FlowId, StageDependencyEdge>) -> Result<Staged>;

    /// Makes a staged dependency count.
    async fn apply_dependency_to_child(&self, command: On<FlowId, EdgeId>) -> Result<Applied>;

    /// Says how the inbound edges of a member join.
    async fn set_edge_group_policy(&self, command: On<ExecutionId, SetEdgeGroupPolicy>) -> Result<Changed>;

    /// Cancels or seals a flow; with `wait` it answers when every member was reached.
    async fn cancel_flow(&self, command: On<FlowId, CancelFlow>) -> Result<MemberCancellation>;

    /// A flow with its derived state and exact counts.
    async fn get_flow(&self, id: FlowId) -> Result<FlowView>;

    /// Flows, newest first.
    async fn list_flows(&self, request: ListFlows) -> Result<Page<FlowView>>;

    /// Members, by id.
    async fn list_members(&self, request: On<FlowId, PageRequest>) -> Result<Page<ExecutionView>>;

    /// Dependencies between the members, by upstream and id.
    async fn list_edges(&self, request: On<FlowId, PageRequest>) -> Result<Page<Edge>>;

    /// Members that wait for others, with what is counted over their inbound edges.
    async fn list_groups(&self, request: On<FlowId, PageRequest>) -> Result<Page<GroupView>>;

    /// The tags of a flow.
    async fn get_flow_tags(&self, id: FlowId) -> Result<Tags>;

    /// Replaces the tags of a flow.
    async fn set_flow_tags(&self, command: On<FlowId, SetTags>) -> Result<Changed>;

    /// Deletes a flow whose members have ended, before its retention is over.
    async fn delete_flow(&self, id: FlowId) -> Result<Changed>;
}
