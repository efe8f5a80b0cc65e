//! Deciding a child from the counters of its group.

use super::{Counts, Verdict, verdict};
use crate::machine::change::{Change, Ending};
use crate::machine::context::Context;
use crate::machine::decided::{ClosedReason, Decided, Draft};
use crate::name::Category;
use crate::record::{EdgeGroupPolicy, Execution, Failure, GateState, Happening, RecordKey};

/// What looking at a child came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluated {
    /// Its dependencies hold: they no longer keep it from its queue.
    Satisfied,
    /// They can no longer hold: it was skipped, or failed if it had run.
    Impossible,
    /// It goes on waiting.
    Undecided,
    /// It does not wait for its dependencies, or its flow is not open yet.
    Untouched,
}

/// waiting_children → waiting, skipped or failed, as the counters of its group say. `context.gate` is its flow's.
pub fn evaluate(child: &Execution, counts: &Counts, context: &Context) -> Decided<Evaluated> {
    let mut change = Change::settled(child, context);
    let evaluated = decide(&mut change, counts);
    change.finish(evaluated)
}

/// Evaluates a child in the very transaction that resolves an edge of it; `counts` are as loaded, before `draft`.
pub fn evaluate_at_once(draft: &mut Draft, child: &Execution, counts: &Counts, context: &Context) -> Evaluated {
    let decided = evaluate(child, &counts.after(child.id, draft), context);
    if matches!(decided.outcome, Evaluated::Satisfied | Evaluated::Impossible) {
        draft.nudges.retain(|nudge| nudge.key != RecordKey::Execution(child.id));
    }
    draft.merge(decided.draft);
    decided.outcome
}

/// Decides a child that waits. Nothing is written while it is undecided.
pub(crate) fn decide(change: &mut Change<'_>, counts: &Counts) -> Evaluated {
    let Some(policy) = waits(change) else {
        return Evaluated::Untouched;
    };
    match verdict(policy, counts) {
        Verdict::Undecided => Evaluated::Undecided,
        Verdict::Satisfied => {
            change.pass_gate();
            go_on(change, counts);
            Evaluated::Satisfied
        }
        Verdict::Impossible => {
            change.pass_gate();
            give_up(change, counts);
            Evaluated::Impossible
        }
    }
}

/// The policy of a child that waits for its group, in a flow whose groups are evaluated. A child whose edges are still being
/// reopened is decided afterwards.
fn waits(change: &Change<'_>) -> Option<EdgeGroupPolicy> {
    let child = &change.after;
    let open = change.context.gate.is_some_and(GateState::evaluates);
    let ready = open && child.runnable().is_some() && !child.unopened && !child.follow_ups.reopen_edges;
    let dependencies = child
        .dependencies
        .as_ref()
        .filter(|dependencies| ready && dependencies.waiting)?;
    Some(dependencies.policy)
}

/// The dependencies hold. Whatever admission said before is looked at anew.
fn go_on(change: &mut Change<'_>, counts: &Counts) {
    if let Some(dependencies) = &mut change.after.dependencies {
        dependencies.waiting = false;
        dependencies.unsatisfied = counts.unsatisfied();
    }
    if let Some(runnable) = change.runnable_mut() {
        runnable.block = None;
    }
    want_siblings_cancelled(change, counts);
    change.note(Happening::DependenciesSatisfied, None);
}

/// The dependencies can no longer hold. A live lease must have been ended before.
pub(crate) fn give_up(change: &mut Change<'_>, counts: &Counts) {
    let ending = if change.after.has_run() {
        let failure = Failure {
            reason: DEPENDENCY_IMPOSSIBLE.to_owned(),
            category: Category::permanent(),
        };
        Ending::failed(failure, ClosedReason::DependencyImpossible)
    } else {
        Ending::skipped(DEPENDENCY_IMPOSSIBLE)
    };
    change.terminate(ending);
    want_siblings_cancelled(change, counts);
}

/// Why an execution whose dependencies can no longer hold has ended.
pub const DEPENDENCY_IMPOSSIBLE: &str = "dependency_impossible";

/// The group is decided: upstreams it no longer needs are cancelled in follow-up work, if its policy says so.
pub(crate) fn want_siblings_cancelled(change: &mut Change<'_>, counts: &Counts) {
    let cancels = change
        .after
        .dependencies
        .as_ref()
        .is_some_and(|deps| deps.policy.cancels_remaining());
    change.after.follow_ups.cancel_siblings |= cancels && counts.unresolved > 0;
}
