//! The graph of a flow in one answer: get_flow_graph, list_graph_members.
//!
//! Members are read whole every time, because each says its state; edges only when the graph has another revision than the one
//! that is remembered. What is alike is found by [`ff_core::graph`].

mod remembered;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use ff_backend::load::Snapshot;
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::graph::{Class, fold};
use ff_core::id::{ExecutionId, FlowId};
use ff_core::limits::{FLOW_MEMBERS_MAX, GRAPH_CLASSES_MAX, GRAPH_EDGES_SHOWN_MAX, GRAPH_NAMED_MAX, PAGE_MAX};
use ff_core::machine::index::Index;
use ff_core::name::ExecutionKind;
use ff_core::record::Execution;
use ff_core::state::public_state;
use ff_core::time::Timestamp;
use ff_core::view::{FlowGraphView, GraphClass, GraphMembers, ListGraphMembers};

pub(crate) use self::remembered::Pictures;
use self::remembered::{Picture, Revision};
use crate::engine::Engine;
use crate::fault::internal;
use crate::ops::reads::events_from_now;

/// What is shown of a member.
struct Seen {
    id: ExecutionId,
    kind: ExecutionKind,
    letter: char,
    started: Option<Timestamp>,
    ended: Option<Timestamp>,
}

impl Seen {
    fn of(member: &Execution) -> Self {
        Self {
            id: member.id,
            kind: member.definition.kind.clone(),
            letter: FlowGraphView::letter(public_state(member)),
            started: member.attempt.as_ref().map(|attempt| attempt.started_at),
            ended: member.outcome().map(|outcome| outcome.at),
        }
    }
}

pub(crate) async fn get_flow_graph(engine: &Engine, id: FlowId) -> Result<FlowGraphView> {
    let snapshot = engine.read_flow(id).await?;
    // Before the members: what happens to them from here on is told.
    let cursor = events_from_now(engine).await?;
    let (as_of, members) = read_members(engine, id).await?;
    let picture = picture(engine, id, &snapshot, &members).await?;
    let flow = engine.visible_flow(&snapshot, id)?.flow;
    let shown = || picture.nodes.iter().map(|node| &members[*node]);
    let apart = |moment: fn(&Seen) -> Option<Timestamp>| FlowGraphView::apart(flow.created_at, shown().map(moment));
    let is_named = members.len() <= GRAPH_NAMED_MAX;
    Ok(FlowGraphView {
        flow_id: id,
        graph_revision: picture.revision.graph,
        members: members.len(),
        created_at: flow.created_at,
        as_of,
        cursor,
        kinds: picture.kinds.clone(),
        classes: picture.classes.clone(),
        states: shown().map(|member| member.letter).collect(),
        started: apart(|member| member.started),
        ended: apart(|member| member.ended),
        links: picture.links.clone(),
        ids: is_named.then(|| shown().map(|member| member.id).collect()),
        edges: is_named.then(|| picture.edges.clone()),
        more_edges: picture.more_edges,
    })
}

pub(crate) async fn list_graph_members(engine: &Engine, request: On<FlowId, ListGraphMembers>) -> Result<GraphMembers> {
    let On { id, command } = request;
    let limit = command.limit()?;
    let snapshot = engine.read_flow(id).await?;
    let flow = engine.visible_flow(&snapshot, id)?;
    let revision = Revision {
        graph: flow.flow.graph_revision,
        members: usize::try_from(flow.counts.members).unwrap_or(usize::MAX),
    };
    let picture = match engine.shared.pictures.of(id, revision) {
        Some(picture) => picture,
        None => {
            let (_, members) = read_members(engine, id).await?;
            picture(engine, id, &snapshot, &members).await?
        }
    };
    let unknown = || Code::InvalidInput.because(format!("/class: the graph has {} classes", picture.classes.len()));
    let class = picture.classes.get(command.class).ok_or_else(unknown)?;
    let own = picture.nodes.iter().skip(class.first).take(class.count);
    let ids = own.skip(command.from).take(limit).map(|node| picture.ids[*node]);
    Ok(GraphMembers {
        graph_revision: picture.revision.graph,
        members: picture.ids.len(),
        count: class.count,
        ids: ids.collect(),
    })
}

/// Every member, by id.
async fn read_members(engine: &Engine, id: FlowId) -> Result<(Timestamp, Vec<Seen>)> {
    let mut pages = engine.store().pages(engine.range(Index::Members(id)), PAGE_MAX);
    let (mut as_of, mut members) = (None, Vec::new());
    while let Some(page) = pages.next().await? {
        as_of = as_of.or(Some(page.now));
        members.extend(page.executions().iter().map(|(member, _)| Seen::of(member)));
        if members.len() as u64 > FLOW_MEMBERS_MAX {
            return Err(Code::GraphTooLarge.because(format!("the flow has more than {FLOW_MEMBERS_MAX} members")));
        }
    }
    members.sort_by_key(|member| member.id);
    let as_of = as_of.ok_or_else(|| internal("a listing had no page"))?;
    Ok((as_of, members))
}

/// The picture of a flow that has these members, remembered or made anew.
async fn picture(engine: &Engine, id: FlowId, before: &Snapshot, members: &[Seen]) -> Result<Arc<Picture>> {
    let graph = engine.visible_flow(before, id)?.flow.graph_revision;
    let revision = Revision {
        graph,
        members: members.len(),
    };
    let remembered = engine.shared.pictures.of(id, revision);
    let is_of_these = |picture: &Arc<Picture>| members.iter().map(|member| &member.id).eq(&picture.ids);
    if let Some(picture) = remembered.filter(is_of_these) {
        return Ok(picture);
    }
    let (edges, more_edges) = read_edges(engine, members).await?;
    let made = Arc::new(make(revision, members, edges, more_edges));
    // Edges that came meanwhile may be in it, or not: it is nobody else's.
    let after = engine.read_flow(id).await?;
    if engine.visible_flow(&after, id)?.flow.graph_revision == graph {
        engine.shared.pictures.remember(id, Arc::clone(&made));
    }
    Ok(made)
}

/// Members whose edges are read at once, first, and whatever they have. Few at a time where they have many edges: each page begins
/// with a look at every one of them.
const EDGES_OF_AT_ONCE: (usize, usize) = (128, 16);

/// The edges between members, by their places; and whether there are more of them.
async fn read_edges(engine: &Engine, members: &[Seen]) -> Result<(Vec<(usize, usize)>, bool)> {
    let by_id = members.iter().enumerate();
    let place_of: HashMap<ExecutionId, usize> = by_id.map(|(place, member)| (member.id, place)).collect();
    let mut edges = Vec::new();
    let (mut at_once, least) = EDGES_OF_AT_ONCE;
    let mut left = members;
    // The newest first: what is cut off is the beginning.
    while !left.is_empty() {
        let (rest, upstreams) = left.split_at(left.len().saturating_sub(at_once));
        left = rest;
        let before = edges.len();
        let lists = upstreams.iter().map(|member| Index::EdgesFrom(member.id)).collect();
        let mut pages = engine.store().pages(engine.ranges(lists), PAGE_MAX);
        while let Some(page) = pages.next().await? {
            edges.extend(page.edges().into_iter().filter_map(|(edge, _)| {
                let upstream = place_of.get(&edge.upstream)?;
                Some((*upstream, *place_of.get(&edge.downstream)?))
            }));
            if edges.len() > GRAPH_EDGES_SHOWN_MAX {
                edges.truncate(GRAPH_EDGES_SHOWN_MAX);
                edges.sort_unstable();
                return Ok((edges, true));
            }
        }
        let found = (edges.len() - before).max(1);
        at_once = (upstreams.len() * PAGE_MAX / found).clamp(least, PAGE_MAX);
    }
    edges.sort_unstable();
    Ok((edges, false))
}

fn make(revision: Revision, members: &[Seen], edges: Vec<(usize, usize)>, more_edges: bool) -> Picture {
    let kinds: BTreeSet<&ExecutionKind> = members.iter().map(|member| &member.kind).collect();
    let kinds: Vec<ExecutionKind> = kinds.into_iter().cloned().collect();
    let kind_of = |member: &Seen| kinds.binary_search(&member.kind).unwrap_or_default();
    let of_kinds: Vec<usize> = members.iter().map(kind_of).collect();
    let is_large = members.len() > GRAPH_NAMED_MAX;
    let folded = fold(&of_kinds, &edges, is_large.then_some(GRAPH_CLASSES_MAX));
    let mut shown_at = vec![0; members.len()];
    for (place, node) in folded.nodes.iter().enumerate() {
        shown_at[*node] = place;
    }
    let shown = |(from, to): (usize, usize)| (shown_at[from], shown_at[to]);
    Picture {
        revision,
        kinds,
        classes: folded.classes.iter().map(shown_class).collect(),
        links: folded.links,
        ids: members.iter().map(|member| member.id).collect(),
        edges: match is_large {
            true => Vec::new(),
            false => edges.into_iter().map(shown).collect(),
        },
        nodes: folded.nodes,
        more_edges,
    }
}

fn shown_class(class: &Class) -> GraphClass {
    GraphClass {
        kind: class.kind,
        layer: class.layer,
        layers: Some(class.layers).filter(|layers| *layers > 1),
        first: class.first,
        count: class.count,
    }
}
