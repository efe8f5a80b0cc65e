//! Upstreams a decided group no longer needs.

use super::{Counts, Verdict, verdict};
use crate::id::ExecutionId;
use crate::machine::change::Change;
use crate::machine::context::Context;
use crate::machine::decided::{Decided, Draft};
use crate::machine::operator::cancel_by_cascade;
use crate::record::{Edge, EdgeState, Execution, RecordKey};

/// An upstream of a decided group whose edge is still unresolved.
#[derive(Clone, Copy, Debug)]
pub struct Sibling<'a> {
    /// The upstream.
    pub upstream: &'a Execution,
    /// Whether [`needs`] says so for any of its outbound edges.
    pub needed: bool,
}

/// Whether `edge` keeps its upstream from being cancelled on behalf of `decided`: it leads to another child that is open and
/// whose group is not decided, and has not been resolved in an earlier life of the upstream. `counts` are those of that
/// child's group: they decide, because a child that runs may have yet to wait for what it was given meanwhile.
pub fn needs(edge: &Edge, downstream: &Execution, counts: &Counts, decided: ExecutionId) -> bool {
    if edge.downstream == decided || downstream.is_terminal() {
        return false;
    }
    let policy = downstream.dependencies.as_ref().map(|dependencies| dependencies.policy);
    match edge.state {
        EdgeState::Staged => true,
        EdgeState::Unresolved => {
            downstream.follow_ups.reopen_edges || verdict(policy.unwrap_or_default(), counts) == Verdict::Undecided
        }
        EdgeState::Satisfied | EdgeState::Failed => false,
    }
}

/// Cancels a page of upstreams a decided group no longer needs.
///
/// Guards on the flow: an edge staged in the meantime may lead to a child that needs the upstream. A child that is reopened
/// in the meantime does not matter; it finds its upstream cancelled, as it would have a moment later.
pub fn cancel_siblings(child: &Execution, page: &[Sibling<'_>], last: bool, context: &Context) -> Decided<()> {
    let change = Change::settled(child, context);
    if !change.after.follow_ups.cancel_siblings {
        return change.finish(());
    }
    let mut work = Draft::default();
    let reason = format!("no longer needed by {}", child.id);
    for sibling in page.iter().filter(|sibling| !sibling.needed) {
        work.merge(cancel_by_cascade(sibling.upstream, &reason, context).draft);
    }
    if let Some(flow) = child.definition.flow.filter(|_| !work.is_empty()) {
        work.guard(RecordKey::Flow(flow));
    }
    change.finish_page((), work, last, |owed| owed.cancel_siblings = false)
}
