//! Reading flows: views, members, groups, tags.

use ff_backend::load::{Load, Snapshot};
use ff_core::command::operator::Tagged;
use ff_core::command::page::{Page, PageRequest};
use ff_core::fabric::{On, Result};
use ff_core::id::FlowId;
use ff_core::machine::flow;
use ff_core::machine::index::Index;
use ff_core::record::{Execution, Tags};
use ff_core::view::{ExecutionView, FlowView, GroupView};

use super::FlowRead;
use crate::engine::Engine;
use crate::ops::reads::execution_views;
use crate::snapshots::{group_counters, group_counts};

pub(crate) async fn get_flow(engine: &Engine, id: FlowId) -> Result<FlowView> {
    let snapshot = engine.read_flow(id).await?;
    Ok(view(engine.visible_flow(&snapshot, id)?))
}

pub(crate) async fn get_flow_tags(engine: &Engine, id: FlowId) -> Result<Tagged> {
    let snapshot = engine.read_flow(id).await?;
    let tags = Tags::clone(&engine.visible_flow(&snapshot, id)?.flow.tags);
    Ok(Tagged { tags })
}

pub(crate) async fn list_members(engine: &Engine, request: On<FlowId, PageRequest>) -> Result<Page<ExecutionView>> {
    let page = members(engine, &request, "members").await?;
    Ok(Page {
        items: execution_views(engine, &page.items).await?,
        next: page.next,
    })
}

/// A page may be short: members without inbound edges are left out.
pub(crate) async fn list_groups(engine: &Engine, request: On<FlowId, PageRequest>) -> Result<Page<GroupView>> {
    let page = members(engine, &request, "groups").await?;
    let joined: Vec<_> = page
        .items
        .into_iter()
        .filter(|member| member.dependencies.is_some())
        .collect();
    let counters = joined.iter().flat_map(|member| group_counters(member.id));
    let load = Load::records(engine.home_of(request.id), []).with_counters(counters);
    let snapshot = engine.store().load(load).await?;
    Ok(Page {
        items: joined
            .iter()
            .filter_map(|member| group_view(member, &snapshot))
            .collect(),
        next: page.next,
    })
}

/// A page of members of a flow the caller may see.
async fn members(engine: &Engine, request: &On<FlowId, PageRequest>, what: &str) -> Result<Page<Execution>> {
    let flow_id = request.id;
    engine.read_flow(flow_id).await?;
    let scope = format!("flow {flow_id} {what}");
    let after = engine.open_cursor(&request.command, &scope).await?;
    let members = engine.range(Index::Members(flow_id));
    let page = engine.store().list(members, after, request.command.limit()?).await?;
    let next = engine.sign_cursor(page.next.clone(), &scope).await?;
    let items = page.executions().into_iter().map(|(member, _)| member).collect();
    Ok(Page { items, next })
}

pub(super) fn view(read: FlowRead<'_>) -> FlowView {
    let FlowRead { flow, gate, counts } = read;
    FlowView {
        flow_id: flow.id,
        namespace: flow.namespace.clone(),
        flow_kind: flow.kind.clone(),
        tags: flow.tags.clone(),
        state: flow::state(gate, &counts),
        gate,
        counts,
        graph_revision: flow.graph_revision,
        created_at: flow.created_at,
        ended_at: flow.ended_at,
        cancellation: flow.cancellation.clone(),
    }
}

fn group_view(member: &Execution, snapshot: &Snapshot) -> Option<GroupView> {
    let dependencies = member.dependencies.as_ref()?;
    Some(GroupView {
        execution_id: member.id,
        policy: dependencies.policy,
        fixed: dependencies.fixed,
        waiting: dependencies.waiting,
        counts: group_counts(snapshot, member.id),
    })
}
