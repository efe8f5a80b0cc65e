//! The edges of a flow: those out of its newest members, then those out of the next ones, and so on.

use ff_backend::query::{Cursor, Range};
use ff_core::command::page::{Page, PageRequest};
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::FlowId;
use ff_core::limits::PAGE_MAX;
use ff_core::machine::index::{Index, Order};
use ff_core::record::{Edge, Record};
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::fault::internal;

/// Members whose edges are read at once. A page has those of a few of these chunks, and may be short.
const MEMBERS_AT_ONCE: usize = 128;

/// Chunks of members that are looked at for one page.
const CHUNKS_PER_PAGE_MAX: usize = 8;

/// Where among the edges of a flow a page ended.
#[derive(Default, Serialize, Deserialize)]
struct EdgePosition {
    /// The place of the member after which the chunk begins whose edges come next.
    after: Option<String>,
    /// The place of its last member: those that join meanwhile do not move it.
    last: Option<String>,
    /// After which the edges of this chunk go on.
    edges: Option<String>,
}

pub(crate) async fn list_edges(engine: &Engine, request: On<FlowId, PageRequest>) -> Result<Page<Edge>> {
    let On { id, command } = request;
    engine.read_flow(id).await?;
    let scope = format!("flow {id} edges");
    let position = match &command.cursor {
        None => EdgePosition::default(),
        Some(signed) => position_of(&engine.open_signed(signed, &scope).await?)?,
    };
    let limit = command.limit()?;
    let (mut items, mut next) = (Vec::new(), Some(position));
    for _ in 0..CHUNKS_PER_PAGE_MAX {
        let Some(position) = next.take_if(|_| items.len() < limit) else {
            break;
        };
        next = read_on(engine, id, position, limit - items.len(), &mut items).await?;
    }
    let next = match next {
        None => None,
        Some(position) => {
            let state = serde_json::to_vec(&position).map_err(|error| internal(&error.to_string()))?;
            Some(engine.sign(&scope, &state).await?)
        }
    };
    Ok(Page { items, next })
}

/// Reads edges of one chunk of members, and answers where to go on.
async fn read_on(
    engine: &Engine,
    flow_id: FlowId,
    position: EdgePosition,
    room: usize,
    items: &mut Vec<Edge>,
) -> Result<Option<EdgePosition>> {
    let members = engine.range(Index::Members(flow_id));
    let after = position.after.as_deref().and_then(Order::parse);
    let limit = if position.last.is_some() {
        PAGE_MAX
    } else {
        MEMBERS_AT_ONCE
    };
    let page = engine
        .store()
        .list(members.clone(), after.as_ref().map(Range::cursor), limit)
        .await?;
    let is_over = page.next.is_none();
    let (mut last, mut upstreams, mut beyond) = (None, Vec::new(), false);
    for (record, _) in page.records() {
        let order = members.order_of(&record).map(|order| order.as_str().to_owned());
        beyond = position.last.is_some() && order > position.last;
        if let (Record::Execution(member), false) = (record, beyond) {
            upstreams.push(Index::EdgesFrom(member.id));
            last = order;
        }
    }
    let last = position.last.or(last);
    let further = (beyond || !is_over).then(|| EdgePosition {
        after: last.clone(),
        ..EdgePosition::default()
    });
    if upstreams.is_empty() {
        return Ok(further);
    }
    let edges = engine.ranges(upstreams);
    let page = engine.store().list(edges, position.edges.map(Cursor), room).await?;
    let rest = page.next.clone().map(|Cursor(edges)| EdgePosition {
        after: position.after,
        last,
        edges: Some(edges),
    });
    items.extend(page.edges().into_iter().map(|(edge, _)| edge));
    Ok(rest.or(further))
}

fn position_of(state: &[u8]) -> Result<EdgePosition> {
    let invalid = |_| Code::InvalidCursor.because("the cursor is not one of this listing; start without one");
    serde_json::from_slice(state).map_err(invalid)
}
