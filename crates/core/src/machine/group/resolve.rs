//! What the end of an upstream does to its outbound edges.

use crate::id::ExecutionId;
use crate::machine::change::Change;
use crate::machine::context::Context;
use crate::machine::decided::{Decided, Draft, Nudge, Write};
use crate::record::{
    CounterKey, Edge, EdgeGroupPolicy, EdgeState, Execution, GroupCounter, OutcomeKind, Record, RecordKey,
};

/// Resolves a page of the outbound edges of an upstream that has ended. Edges that are not unresolved are left alone.
pub fn resolve_edges(upstream: &Execution, page: &[Edge], last: bool, context: &Context) -> Decided<()> {
    let change = Change::settled(upstream, context);
    let Some(outcome) = change.after.outcome().filter(|_| change.after.follow_ups.resolve_edges) else {
        return change.finish(());
    };
    let mut work = Draft::default();
    resolve(&mut work, page, outcome.kind);
    change.finish_page((), work, last, |owed| owed.resolve_edges = false)
}

/// Resolves the outbound edges of an upstream in the very transaction that ends it: `draft` writes the ended upstream,
/// `edges` are all its outbound edges.
///
/// An edge applied in the meantime would guard on the upstream as it was, which this transaction does not contradict; so it
/// guards on the flow, which every staged edge writes, and on the edges that are staged and may still be applied.
pub fn resolve_at_once(draft: &mut Draft, upstream: ExecutionId, edges: &[Edge]) {
    let Some(ended) = execution_of(draft, upstream) else {
        return;
    };
    let Some((outcome, flow)) = ended.outcome().map(|outcome| outcome.kind).zip(ended.definition.flow) else {
        return;
    };
    ended.follow_ups.resolve_edges = false;
    draft.guard(RecordKey::Flow(flow));
    for edge in edges.iter().filter(|edge| edge.state == EdgeState::Staged) {
        draft.guard(RecordKey::Edge(edge.id));
    }
    resolve(draft, edges, outcome);
}

fn execution_of(draft: &mut Draft, id: ExecutionId) -> Option<&mut Execution> {
    draft.writes.iter_mut().find_map(|write| match write {
        Write::Put(Record::Execution(execution)) if execution.id == id => Some(&mut **execution),
        _ => None,
    })
}

fn resolve(draft: &mut Draft, edges: &[Edge], outcome: OutcomeKind) {
    for edge in edges.iter().filter(|edge| edge.is_unresolved()) {
        let mut edge = edge.clone();
        let state = edge.resolution(outcome);
        move_edge(draft, &mut edge, state);
        draft.nudge(nudge_child(&edge));
        draft.put(edge);
    }
}

/// Moves an edge to another state together with the counters of its group.
pub(crate) fn move_edge(draft: &mut Draft, edge: &mut Edge, state: EdgeState) {
    for (counter, by) in [
        (edge.state.counter(edge.downstream), -1),
        (state.counter(edge.downstream), 1),
    ] {
        if let Some(counter) = counter {
            draft.increment(counter, by);
        }
    }
    edge.state = state;
}

/// An `all_of` child need not be looked at before its last upstream has ended, unless one failed.
fn nudge_child(edge: &Edge) -> Nudge {
    let child = RecordKey::Execution(edge.downstream);
    if edge.join == EdgeGroupPolicy::AllOf && edge.state == EdgeState::Satisfied {
        return Nudge::at_zero(child, CounterKey::Group(edge.downstream, GroupCounter::Unresolved));
    }
    Nudge::always(child)
}
