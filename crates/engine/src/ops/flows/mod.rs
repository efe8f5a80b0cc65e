//! Flows: graphs of executions.
//!
//! | file | operations |
//! |---|---|
//! | here | open_flow, set_edge_group_policy, set_tags, delete_flow: one rule about one record |
//! | `create` | create_flow |
//! | `graph` | create_flow_graph |
//! | `site` | what of a graph is there before it is created |
//! | `members` | add_execution_to_flow |
//! | `edges` | stage_dependency_edge, apply_dependency_to_child |
//! | `cancel` | cancel_flow |
//! | `read` | get_flow, list_flows, members, groups, tags |
//! | `edge_pages` | edges of a flow |
//! | `consequences` | the end of a member together with what follows from it |
//! | `loaded` | reading a flow with its gate and counters, and changing it |

mod cancel;
mod consequences;
mod create;
mod edge_pages;
mod edges;
mod graph;
mod loaded;
mod members;
mod read;
mod site;

pub(crate) use loaded::FlowRead;

use async_trait::async_trait;
use ff_core::command::flow::{
    Applied, CancelFlow, CreateFlowWith, CreatedFlow, FlowGraph, GraphCreated, Joined, MemberCancellation, Opened,
    SetEdgeGroupPolicy, StageDependencyEdge, Staged,
};
use ff_core::command::operator::{Changed, SetTags};
use ff_core::command::page::{Page, PageRequest};
use ff_core::fabric::{Flows, On, Result};
use ff_core::id::{EdgeId, ExecutionId, FlowId};
use ff_core::machine::{flow, group};
use ff_core::record::{Edge, Tags};
use ff_core::view::{ExecutionView, FlowView, GroupView, ListFlows};

use crate::engine::Engine;

#[async_trait]
impl Flows for Engine {
    async fn create_flow(&self, command: CreateFlowWith) -> Result<CreatedFlow> {
        create::create_flow(self, command).await
    }

    async fn add_execution_to_flow(&self, command: On<FlowId, ExecutionId>) -> Result<Joined> {
        members::add(self, command).await
    }

    async fn create_flow_graph(&self, command: FlowGraph) -> Result<GraphCreated> {
        graph::create_flow_graph(self, command).await
    }

    async fn open_flow(&self, id: FlowId) -> Result<Opened> {
        self.change_flow(id, flow::open).await
    }

    async fn stage_dependency_edge(&self, command: On<FlowId, StageDependencyEdge>) -> Result<Staged> {
        edges::stage(self, command).await
    }

    async fn apply_dependency_to_child(&self, command: On<FlowId, EdgeId>) -> Result<Applied> {
        edges::apply(self, command).await
    }

    async fn set_edge_group_policy(&self, command: On<ExecutionId, SetEdgeGroupPolicy>) -> Result<Changed> {
        let On { id, command } = command;
        self.change(id, |child, context| group::set_policy(child, &command, context))
            .await
    }

    async fn cancel_flow(&self, command: On<FlowId, CancelFlow>) -> Result<MemberCancellation> {
        cancel::cancel_flow(self, command).await
    }

    async fn get_flow(&self, id: FlowId) -> Result<FlowView> {
        read::get_flow(self, id).await
    }

    async fn list_flows(&self, request: ListFlows) -> Result<Page<FlowView>> {
        read::list_flows(self, request).await
    }

    async fn list_members(&self, request: On<FlowId, PageRequest>) -> Result<Page<ExecutionView>> {
        read::list_members(self, request).await
    }

    async fn list_edges(&self, request: On<FlowId, PageRequest>) -> Result<Page<Edge>> {
        edge_pages::list_edges(self, request).await
    }

    async fn list_groups(&self, request: On<FlowId, PageRequest>) -> Result<Page<GroupView>> {
        read::list_groups(self, request).await
    }

    async fn get_flow_tags(&self, id: FlowId) -> Result<Tags> {
        read::get_tags(self, id).await
    }

    async fn set_flow_tags(&self, command: On<FlowId, SetTags>) -> Result<Changed> {
        let On { id, command } = command;
        self.change_flow(id, |loaded, context| flow::set_tags(loaded, &command, context))
            .await
    }

    async fn delete_flow(&self, id: FlowId) -> Result<Changed> {
        self.change_flow(id, flow::request_delete).await
    }
}
