//! What belongs to one flow or one execution: members, edges, attempts, waitpoints, signals. All of it lives in one partition
//! and is found by name; names sort as ids and indexes do.

use ff_backend::codec::cursor::Cut;
use ff_backend::query::Rows;
use ff_core::id::{ExecutionId, FlowId, WaitpointId};
use ff_core::partition::Partition;
use ff_core::record::{EdgeState, Record};

use super::Found;
use super::reader::Reader;
use super::walk::{ListPosition, Names, Order, Walk};
use crate::keys::INDEX;

pub(super) async fn members(reader: &mut Reader<'_>, flow_id: FlowId, open_only: bool, cut: &Cut) -> Found {
    let kind = if open_only { "open_member" } else { "member" };
    let names = Names {
        begin: format!("{kind}:{flow_id}:"),
        lead_to: "execution:".to_owned(),
    };
    let walk = along(reader.shared.counts.of_flow(flow_id), names, cut)?;
    let page = reader.page(cut, walk, |record, version| match record {
        Record::Execution(execution) if !open_only || !execution.is_terminal() => Some((*execution, version)),
        _ => None,
    });
    let (rows, next) = page.await?;
    Ok((Rows::Executions(rows), next))
}

pub(super) async fn edges_from(
    reader: &mut Reader<'_>,
    upstream: ExecutionId,
    unresolved_only: bool,
    cut: &Cut,
) -> Found {
    let kind = if unresolved_only {
        "unresolved_from"
    } else {
        "edge_from"
    };
    edges(reader, kind, upstream, cut).await
}

pub(super) async fn edges_into(reader: &mut Reader<'_>, downstream: ExecutionId, cut: &Cut) -> Found {
    edges(reader, "edge_into", downstream, cut).await
}

async fn edges(reader: &mut Reader<'_>, kind: &'static str, end: ExecutionId, cut: &Cut) -> Found {
    let names = Names {
        begin: format!("{kind}:{}:", end.uuid()),
        lead_to: "edge:".to_owned(),
    };
    let walk = along(end.partition(), names, cut)?;
    let any_state = kind != "unresolved_from";
    let page = reader.page(cut, walk, |record, version| match record {
        Record::Edge(edge) if any_state || edge.state == EdgeState::Unresolved => Some((*edge, version)),
        _ => None,
    });
    let (rows, next) = page.await?;
    Ok((Rows::Edges(rows), next))
}

pub(super) async fn attempts(reader: &mut Reader<'_>, id: ExecutionId, cut: &Cut) -> Found {
    let page = reader.page(cut, of_execution("attempt", id, cut)?, |record, _| match record {
        Record::Attempt(_, attempt) => Some(*attempt),
        _ => None,
    });
    let (rows, next) = page.await?;
    Ok((Rows::Attempts(rows), next))
}

pub(super) async fn waitpoints(reader: &mut Reader<'_>, id: ExecutionId, cut: &Cut) -> Found {
    let page = reader.page(
        cut,
        of_execution("waitpoint", id, cut)?,
        |record, version| match record {
            Record::Waitpoint(waitpoint) => Some((*waitpoint, version)),
            _ => None,
        },
    );
    let (rows, next) = page.await?;
    Ok((Rows::Waitpoints(rows), next))
}

pub(super) async fn signals(reader: &mut Reader<'_>, id: ExecutionId, cut: &Cut) -> Found {
    page_of_signals(reader, of_execution("signal", id, cut)?, cut).await
}

pub(super) async fn buffered_signals(
    reader: &mut Reader<'_>,
    id: ExecutionId,
    waitpoint_id: WaitpointId,
    cut: &Cut,
) -> Found {
    let names = Names {
        begin: format!("buffered:{}:{waitpoint_id}:", id.uuid()),
        lead_to: format!("signal:{}:", id.uuid()),
    };
    page_of_signals(reader, along(id.partition(), names, cut)?, cut).await
}

async fn page_of_signals(reader: &mut Reader<'_>, walk: Walk, cut: &Cut) -> Found {
    let page = reader.page(cut, walk, |record, _| match record {
        Record::Signal(signal) => Some(*signal),
        _ => None,
    });
    let (rows, next) = page.await?;
    Ok((Rows::Signals(rows), next))
}

fn of_execution(kind: &str, id: ExecutionId, cut: &Cut) -> ff_backend::Result<Walk> {
    along(id.partition(), Names::of_records(format!("{kind}:{}:", id.uuid())), cut)
}

fn along(partition: Partition, names: Names, cut: &Cut) -> ff_backend::Result<Walk> {
    let after = cut.after::<ListPosition>()?;
    Ok(Walk::new(
        [(partition, INDEX.to_owned())],
        Order::ByName,
        names,
        after.as_ref(),
    ))
}
