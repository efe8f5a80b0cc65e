//! What a replay does to the edges around the execution, a page at a time, before it may be claimed.
//!
//! An edge resolves once: satisfied edges stay. A failed edge becomes unresolved again if it can still matter:
//!
//! * inbound, if its upstream is open again, or has succeeded since: then it is resolved at once;
//! * inbound, of an execution that never ran and was replayed itself, in any case: an upstream that stays failed keeps it
//!   waiting until it is replayed as well;
//! * outbound, to a child that was skipped or still waits for its group. The child is reopened unless another upstream
//!   still makes it impossible; if it does, the edge is unresolved all the same, because its upstream is open: once the
//!   other upstream is replayed too, nothing is left that says otherwise. A reopened child owes the same to its own edges.
//!
//! Children that run, or ended in any other way, are left alone.

use super::change::Change;
use super::context::Context;
use super::decided::{Decided, Draft, Nudge};
use super::group::{Counts, Verdict, move_edge, verdict};
use super::replay::restart;
use crate::record::{AttemptKind, Edge, EdgeState, Execution, Happening, OutcomeKind, RecordKey};

/// A page of the edges around a replayed execution. Edges that are not failed are left alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Page<'a> {
    /// Edges into it, with their upstreams.
    pub inbound: &'a [(&'a Edge, &'a Execution)],
    /// Edges out of it, with their children and the counters of the children's groups.
    pub outbound: &'a [(&'a Edge, &'a Execution, Counts)],
    /// Whether these are all that are left.
    pub last: bool,
}

/// How far reopening the edges of an execution is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reopened {
    /// All of them: it may be claimed as soon as its dependencies hold.
    Done,
    /// There is another page.
    More,
    /// An edge of this page has to be looked at again: start over, a little later.
    StartOver,
    /// It no longer owes this: it ended again, at the latest now because its flow was cancelled.
    Pointless,
}

/// Reopens a page of edges. `context.gate` is the flow's.
pub fn reopen_edges(replayed: &Execution, page: Page<'_>, context: &Context) -> Decided<Reopened> {
    let mut change = Change::settled(replayed, context);
    if !change.after.follow_ups.reopen_edges {
        return change.finish(Reopened::Pointless);
    }
    if !change.pass_gate() {
        change.cancel_with_flow();
        return change.finish(Reopened::Pointless);
    }
    let mut work = Draft::default();
    let mut settled = true;
    for (edge, upstream) in page.inbound {
        settled &= reopen_inbound(&mut work, edge, upstream, &change.after);
    }
    for (edge, child, counts) in page.outbound {
        reopen_outbound(&mut work, edge, child, counts, context);
    }
    let last = page.last && settled;
    if last {
        change.draft.nudge(Nudge::always(RecordKey::Execution(replayed.id)));
    }
    let outcome = match (settled, last) {
        (false, _) => Reopened::StartOver,
        (true, false) => Reopened::More,
        (true, true) => Reopened::Done,
    };
    change.finish_page(outcome, work, last, |owed| owed.reopen_edges = false)
}

/// Answers `false` when the edge has to be looked at again: its upstream has ended and is still resolving its edges, which
/// would fail this one a second time.
fn reopen_inbound(work: &mut Draft, edge: &Edge, upstream: &Execution, child: &Execution) -> bool {
    if edge.state != EdgeState::Failed {
        return true;
    }
    let state = match upstream.outcome() {
        None => EdgeState::Unresolved,
        Some(outcome) if edge.resolution(outcome.kind) == EdgeState::Satisfied => EdgeState::Satisfied,
        Some(_) if !wants_all(child) => return true,
        Some(_) if upstream.follow_ups.resolve_edges => return false,
        Some(_) => EdgeState::Unresolved,
    };
    work.guard(RecordKey::Execution(upstream.id));
    set_state(work, edge, state);
    true
}

/// Whether somebody replayed this very execution, which never ran: all its dependencies count anew.
fn wants_all(child: &Execution) -> bool {
    let replayed = child
        .runnable()
        .is_some_and(|runnable| runnable.next_claim.kind == AttemptKind::Replay);
    replayed && !child.has_run()
}

fn reopen_outbound(work: &mut Draft, edge: &Edge, child: &Execution, counts: &Counts, context: &Context) {
    let mut change = Change::settled(child, context);
    let skipped = change
        .after
        .outcome()
        .is_some_and(|outcome| outcome.kind == OutcomeKind::Skipped);
    let runnable = change.after.runnable().is_some();
    let Some(dependencies) = &mut change.after.dependencies else {
        return;
    };
    let undecided = runnable && dependencies.waiting;
    if edge.state != EdgeState::Failed || !(skipped || undecided) {
        return;
    }
    set_state(work, edge, EdgeState::Unresolved);
    let counts = counts.after(child.id, work);
    dependencies.unsatisfied = counts.unsatisfied();
    if skipped && verdict(dependencies.policy, &counts) != Verdict::Impossible {
        restart(&mut change, AttemptKind::Initial, true);
        change.note(Happening::Reopened, None);
    }
    // Written even if it stays as it was: the counters of its group go back, which no verdict may overlook.
    work.merge(change.finish_written(()).draft);
}

fn set_state(work: &mut Draft, edge: &Edge, state: EdgeState) {
    let mut edge = edge.clone();
    move_edge(work, &mut edge, state);
    work.put(edge);
}
