//! Flows: graphs of executions.
//!
//! | file | operations |
//! |---|---|
//! | here | open_flow, set_edge_group_policy, set_tags, delete_flow: one rule about one record |
//! | `create` | create_flow |
//! | `graph` | create_flow_graph |
//! | `existing_part` | what of a graph is there before it is created |
//! | `members` | add_execution_to_flow |
//! | `edges` | stage_dependency_edge, apply_dependency_to_child |
//! | `cancel` | cancel_flow |
//! | `read` | get_flow, members, groups, tags |
//! | `listed` | list_flows |
//! | `picture` | get_flow_graph, list_graph_members |
//! | `edge_pages` | edges of a flow |
//! | `consequences` | the end of a member together with what follows from it |
//! | `loaded` | reading a flow with its gate and counters, and changing it |

mod cancel;
mod consequences;
mod create;
mod edge_pages;
mod edges;
mod existing_part;
mod graph;
mod listed;
mod loaded;
mod members;
mod picture;
mod read;

pub(crate) use consequences::end_held;
pub(crate) use loaded::{FlowRead, no_flow};

pub(crate) use cancel::cancel_flow;
pub(crate) use create::create_flow;
pub(crate) use edge_pages::list_edges;
pub(crate) use edges::{apply_dependency_to_child, stage_dependency_edge};
pub(crate) use graph::create_flow_graph;
pub(crate) use listed::list_flows;
pub(crate) use members::add_execution_to_flow;
pub(crate) use picture::{Pictures, get_flow_graph, list_graph_members};
pub(crate) use read::{get_flow, get_flow_tags, list_groups, list_members};

use ff_core::command::flow::{Opened, SetEdgeGroupPolicy};
use ff_core::command::operator::{Changed, SetTags};
use ff_core::fabric::{On, Result};
use ff_core::id::FlowId;
use ff_core::machine::{flow, group};

use crate::engine::Engine;

pub(crate) async fn open_flow(engine: &Engine, id: FlowId) -> Result<Opened> {
    engine.change_flow(id, flow::open).await
}

pub(crate) async fn set_edge_group_policy(engine: &Engine, command: On<FlowId, SetEdgeGroupPolicy>) -> Result<Changed> {
    let On { id: flow, command } = command;
    engine
        .change(command.execution_id, |child, context| {
            group::set_policy(child, flow, &command, context)
        })
        .await
}

pub(crate) async fn set_flow_tags(engine: &Engine, command: On<FlowId, SetTags>) -> Result<Changed> {
    let On { id, command } = command;
    engine
        .change_flow(id, |loaded, context| flow::set_tags(loaded, &command, context))
        .await
}

pub(crate) async fn delete_flow(engine: &Engine, id: FlowId) -> Result<Changed> {
    engine.change_flow(id, flow::request_delete).await
}
