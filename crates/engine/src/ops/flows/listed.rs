//! list_flows: newest first, by what they are and where they stand.

use ff_backend::query::{Cursor, Range};
use ff_core::fabric::Result;
use ff_core::limits::{FLOWS_LOOKED_AT_MAX, LOOKED_AT_MAX};
use ff_core::machine::index::Index;
use ff_core::name::FlowKind;
use ff_core::record::{Flow, Record};
use ff_core::time::Timestamp;
use ff_core::view::{FlowPage, FlowView, ListFlows};
use futures::future::try_join_all;

use super::read::view;
use crate::engine::Engine;
use crate::lists::created_between;

/// Flows that are read at once when those in a state are looked for: few of them may be in it.
const READ_AT_ONCE: usize = 200;

/// A page on its way. All flows stand in one list, and nobody is told of those of another namespace, not even that they were looked at.
struct Looking {
    request: ListFlows,
    limit: usize,
    items: Vec<FlowView>,
    looked_at: usize,
    looked_at_own: u64,
    reached_at: Option<Timestamp>,
    next: Option<Cursor>,
}

/// One that is deleted meanwhile is left out: a page may be short.
pub(crate) async fn list_flows(engine: &Engine, request: ListFlows) -> Result<FlowPage> {
    let request = ListFlows {
        namespace: engine.namespace_to_read(request.namespace.clone())?,
        ..request
    };
    let scope = scope(&request);
    let range = range(engine, &request);
    let mut looking = Looking {
        limit: request.page.limit()?,
        items: Vec::new(),
        looked_at: 0,
        looked_at_own: 0,
        reached_at: None,
        next: engine.open_cursor(&request.page, &scope).await?,
        request,
    };
    while looking.look_on(engine, &range).await? {}
    Ok(FlowPage {
        items: looking.items,
        next: engine.sign_cursor(looking.next, &scope).await?,
        looked_at: looking.looked_at_own,
        reached_at: looking.reached_at,
    })
}

impl Looking {
    /// Looks at some more flows; whether to go on.
    async fn look_on(&mut self, engine: &Engine, range: &Range) -> Result<bool> {
        let by_state = !self.request.state.is_empty();
        let (at_once, looked_at_max) = match by_state {
            true => (READ_AT_ONCE, FLOWS_LOOKED_AT_MAX),
            false => (self.limit - self.items.len(), LOOKED_AT_MAX),
        };
        let (request, mut reached_at, mut looked_at_own) = (&self.request, self.reached_at, self.looked_at_own);
        let matches = |record: &Record| match record {
            Record::Flow(flow) if is_of_namespace(request, flow) => {
                (reached_at, looked_at_own) = (Some(flow.created_at), looked_at_own + 1);
                is_wanted(request, flow)
            }
            _ => false,
        };
        let found = engine
            .matching(range.clone(), self.next.take(), at_once, matches)
            .await?;
        self.looked_at += found.looked_at;
        self.looked_at_own = looked_at_own;
        let mut is_full = false;
        let flows = found.rows.iter().filter_map(|(record, _)| match record {
            Record::Flow(flow) => Some((record, flow)),
            _ => None,
        });
        let flows: Vec<_> = flows.collect();
        // Each is read on its own: its counters are beside it.
        let loads = flows
            .iter()
            .map(|(_, flow)| engine.store().load(engine.load_of_flow(flow.id)));
        let snapshots = try_join_all(loads).await?;
        for (nth, ((record, flow), snapshot)) in flows.iter().zip(&snapshots).enumerate() {
            let Ok(read) = engine.visible_flow(snapshot, flow.id) else {
                continue;
            };
            let view = view(read);
            if by_state && !self.request.state.contains(&view.state) {
                continue;
            }
            self.items.push(view);
            let is_last = nth + 1 == flows.len();
            if self.items.len() == self.limit && !is_last {
                // What comes after it is read again with the next page.
                self.next = range.order_of(record).as_ref().map(Range::cursor);
                reached_at = Some(flow.created_at);
                is_full = true;
                break;
            }
        }
        if !is_full {
            self.next = found.next;
        }
        self.reached_at = reached_at;
        Ok(self.next.is_some() && self.items.len() < self.limit && self.looked_at < looked_at_max)
    }
}

fn is_of_namespace(request: &ListFlows, flow: &Flow) -> bool {
    let namespace = request.namespace.as_ref();
    namespace.is_none_or(|namespace| flow.namespace == *namespace)
}

/// Whether a flow of the namespace is one of those asked for, as far as its record says.
fn is_wanted(request: &ListFlows, flow: &Flow) -> bool {
    let ListFlows {
        kind,
        tag,
        created_from,
        created_before,
        ..
    } = request;
    tag.as_ref()
        .is_none_or(|(key, value)| flow.tags.get(key) == Some(value))
        && created_from.is_none_or(|from| flow.created_at >= from)
        && created_before.is_none_or(|before| flow.created_at < before)
        && match kind {
            Some(kind) => flow.kind == *kind,
            None => flow.kind != FlowKind::spawned(),
        }
}

/// The narrowest list that has everything a request wants, newest first.
fn range(engine: &Engine, request: &ListFlows) -> Range {
    let index = match (&request.namespace, &request.tag) {
        (Some(namespace), Some((key, value))) => Index::FlowTag(namespace.clone(), key.clone(), value.clone()),
        _ => Index::Flows,
    };
    created_between(engine.range(index), request.created_from, request.created_before)
}

fn scope(request: &ListFlows) -> String {
    let ListFlows {
        namespace,
        kind,
        tag,
        state,
        created_from,
        created_before,
        page: _,
    } = request;
    format!("flows {namespace:?} {kind:?} {tag:?} {state:?} {created_from:?} {created_before:?}")
}
