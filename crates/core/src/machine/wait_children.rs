//! active → waiting_children, failed, or still active: wait_children.

use super::change::Change;
use super::context::Context;
use super::decided::{Decided, Nudge};
use super::fence::{self, Fenced};
use super::group::{self, Counts, Verdict, verdict};
use super::steps;
use crate::command::flow::{WaitChildren, WaitedChildren};
use crate::error::Rejection;
use crate::record::{Execution, GateState, Happening, LeaseEnd, LeaseOperation, RecordKey};

/// The holder goes on only when its dependencies hold. Safe to repeat with the same lease.
///
/// `counts` may be older than the commit: an upstream that ended in between nudged this execution while it was active, when
/// nobody decides it. So an execution that starts to wait nudges itself, and is decided from counters read after that.
pub fn wait_children(
    execution: &Execution,
    command: &WaitChildren,
    counts: &Counts,
    context: &Context,
) -> Result<Decided<WaitedChildren>, Rejection> {
    let fence = fence::given(command.fence.as_ref())?;
    let mut change = Change::begin(execution, context)?;
    if let Fenced::Repeated(end) = fence::check(&change.after, fence, LeaseOperation::WaitChildren)? {
        return Ok(change.finish(waited_before(&end)));
    }
    fence::confirm(&mut change);
    steps::add(&mut change, &command.steps)?;
    match stand(&change, counts) {
        Verdict::Satisfied => {
            group::want_siblings_cancelled(&mut change, counts);
            Ok(change.finish(WaitedChildren::AlreadySatisfied))
        }
        Verdict::Impossible => {
            change.end_lease(LeaseEnd::DependencyImpossible);
            group::give_up(&mut change, counts);
            Ok(change.finish(WaitedChildren::DependencyImpossible))
        }
        Verdict::Undecided => Ok(wait(change, counts)),
    }
}

/// Where the dependencies stand. Those of a flow that is not open yet are not decided.
fn stand(change: &Change<'_>, counts: &Counts) -> Verdict {
    let Some(dependencies) = &change.after.dependencies else {
        return Verdict::Satisfied;
    };
    let verdict = verdict(dependencies.policy, counts);
    if change.context.gate == Some(GateState::Assembling) && counts.applied > 0 {
        return Verdict::Undecided;
    }
    verdict
}

fn wait(mut change: Change<'_>, counts: &Counts) -> Decided<WaitedChildren> {
    if !change.leave_lease(LeaseOperation::WaitChildren, LeaseEnd::WaitingChildren) {
        return change.finish(WaitedChildren::Cancelled);
    }
    if let Some(dependencies) = &mut change.after.dependencies {
        dependencies.waiting = true;
        dependencies.unsatisfied = counts.unsatisfied();
    }
    let next_claim = change.same_attempt();
    change.requeue(next_claim, None);
    change.note(Happening::WaitingChildren, None);
    change.draft.nudge(Nudge::always(RecordKey::Execution(change.after.id)));
    change.finish(WaitedChildren::Waiting)
}

const fn waited_before(end: &LeaseEnd) -> WaitedChildren {
    match end {
        LeaseEnd::DependencyImpossible => WaitedChildren::DependencyImpossible,
        LeaseEnd::FlowCancelled { .. } => WaitedChildren::Cancelled,
        _ => WaitedChildren::Waiting,
    }
}
