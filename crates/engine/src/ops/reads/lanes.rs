//! list_lanes, list_namespaces.

use std::collections::BTreeMap;
use std::ops::Bound;

use ff_backend::query::{self, Cursor, LaneDepth, Listing};
use ff_core::command::lane::ListNamespaces;
use ff_core::command::page::{ListOf, Page};
use ff_core::command::submit::LaneState;
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::name::{LaneId, Namespace};
use ff_core::view::LaneView;

use crate::directory::lanes;
use crate::engine::Engine;

/// Lanes with executions and lanes that were only set, by name. Neither listing can start at a name of the other, so
/// both are read whole: a namespace has at most 10,000 lanes, and rarely more than a page of them.
pub(crate) async fn list_lanes(engine: &Engine, request: ListOf) -> Result<Page<LaneView>> {
    let ListOf { namespace, page } = request;
    engine.check_namespace(&namespace)?;
    let limit = page.limit()?;
    let scope = format!("lanes/{namespace}");
    let after = match engine.open_cursor(&page, &scope).await? {
        None => Bound::Unbounded,
        Some(cursor) => Bound::Excluded(parse(&cursor)?),
    };
    let mut lanes: BTreeMap<LaneId, (LaneState, Option<LaneDepth>)> = BTreeMap::new();
    for lane in lanes::all(engine, &namespace).await? {
        lanes.insert(lane.lane, (lane.state, None));
    }
    let of = Listing::Lanes(namespace.clone());
    for depth in engine.store().list_all(of, query::Page::lanes).await? {
        let lane = lanes.entry(depth.lane.clone()).or_default();
        lane.1 = Some(depth);
    }
    let mut rest = lanes.range((after, Bound::Unbounded));
    let items: Vec<LaneView> = rest
        .by_ref()
        .take(limit)
        .map(|(lane, (state, depth))| lane_view(engine, &namespace, lane, *state, depth.as_ref()))
        .collect();
    let last = items.last().filter(|_| rest.next().is_some());
    let next = last.map(|last| Cursor(last.lane_id.to_string()));
    Ok(Page {
        next: engine.sign_cursor(next, &scope).await?,
        items,
    })
}

/// Namespaces with lanes, and that of the caller even if it has none.
pub(crate) async fn list_namespaces(engine: &Engine, _: ListNamespaces) -> Result<Vec<Namespace>> {
    match &engine.caller.namespace {
        Some(own) => Ok(vec![own.clone()]),
        None => Ok(lanes::recent_namespaces(engine).await?.to_vec()),
    }
}

pub(crate) fn lane_view(
    engine: &Engine,
    namespace: &Namespace,
    lane: &LaneId,
    state: LaneState,
    depth: Option<&LaneDepth>,
) -> LaneView {
    LaneView {
        namespace: namespace.clone(),
        lane_id: lane.clone(),
        state,
        depth: depth.map(|depth| depth.depth.clone()).unwrap_or_default(),
        oldest_eligible: depth.and_then(|depth| depth.oldest_eligible),
        throughput: engine
            .shared
            .throughput
            .per_second(namespace, lane, engine.host().elapsed()),
    }
}

fn parse(cursor: &Cursor) -> Result<LaneId> {
    let invalid = |_| Code::InvalidCursor.because("the cursor is not one of this listing; start without one");
    LaneId::parse(&cursor.0).map_err(invalid)
}
