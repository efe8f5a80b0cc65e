//! The edges of a flow: those out of its first member, then those out of the next one, and so on.

use ff_backend::query::{Cursor, Listing};
use ff_core::command::page::{Page, PageRequest};
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::{ExecutionId, FlowId};
use ff_core::record::Edge;
use serde::{Deserialize, Serialize};

use super::edges::outbound;
use crate::engine::Engine;
use crate::fault::internal;

/// Members looked at for one page, which may therefore be short.
const MEMBERS_PER_PAGE_MAX: usize = 128;

/// Where among the edges of a flow a page ended.
#[derive(Default, Serialize, Deserialize)]
struct EdgePosition {
    /// After which the listing of members goes on.
    members: Option<String>,
    /// The member whose edges come next: those before it are done.
    upstream: Option<ExecutionId>,
    /// After which its own edges go on.
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
    let mut walk = Walk {
        engine,
        flow_id: id,
        limit: command.limit()?,
        edges: Vec::new(),
    };
    let next = match walk.on(position).await? {
        None => None,
        Some(position) => {
            let state = serde_json::to_vec(&position).map_err(|error| internal(&error.to_string()))?;
            Some(engine.sign(&scope, &state).await?)
        }
    };
    Ok(Page {
        items: walk.edges,
        next,
    })
}

fn position_of(state: &[u8]) -> Result<EdgePosition> {
    let invalid = |_| Code::InvalidCursor.because("the cursor is not one of this listing; start without one");
    serde_json::from_slice(state).map_err(invalid)
}

/// One page in the making.
struct Walk<'e> {
    engine: &'e Engine,
    flow_id: FlowId,
    limit: usize,
    edges: Vec<Edge>,
}

impl Walk<'_> {
    /// Goes on from `position` and answers where the next page does.
    async fn on(&mut self, position: EdgePosition) -> Result<Option<EdgePosition>> {
        let EdgePosition {
            members,
            upstream: started,
            mut edges,
        } = position;
        let listing = Listing::Members {
            flow_id: self.flow_id,
            open_only: false,
        };
        let after = members.clone().map(Cursor);
        let page = self.engine.store().list(listing, after, MEMBERS_PER_PAGE_MAX).await?;
        let further = page.next.clone();
        let ids = page.executions().into_iter().map(|(member, _)| member.id);
        for upstream in ids.filter(|id| started.is_none_or(|started| *id >= started)) {
            // Deleted meanwhile, it would leave its place to another member.
            let after = edges.take().filter(|_| started == Some(upstream));
            if let Full::At(edges) = self.edges_from(upstream, after).await? {
                return Ok(Some(EdgePosition {
                    members,
                    upstream: Some(upstream),
                    edges,
                }));
            }
        }
        Ok(further.map(|Cursor(members)| EdgePosition {
            members: Some(members),
            ..EdgePosition::default()
        }))
    }

    /// Takes the edges out of one member, as far as they fit.
    async fn edges_from(&mut self, upstream: ExecutionId, mut after: Option<String>) -> Result<Full> {
        loop {
            let room = self.limit - self.edges.len();
            if room == 0 {
                return Ok(Full::At(after));
            }
            let after_edge = after.map(Cursor);
            let page = self.engine.store().list(outbound(upstream), after_edge, room).await?;
            after = page.next.clone().map(|Cursor(cursor)| cursor);
            self.edges.extend(page.edges().into_iter().map(|(edge, _)| edge));
            if after.is_none() {
                return Ok(Full::NotYet);
            }
        }
    }
}

/// Whether a page is full.
enum Full {
    /// There is room for the edges of the next member.
    NotYet,
    /// The next page goes on after this edge of the same member.
    At(Option<String>),
}
