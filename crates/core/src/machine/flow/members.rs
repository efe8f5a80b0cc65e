//! Follow-up work over the members of a flow, a page at a time: letting them go, cancelling them, deleting them.
//!
//! A page that is not the last guards on the flow, so that two kinds of follow-up work cannot overlap; the last one writes
//! it without the mark that made it due.

use super::Loaded;
use crate::error::Rejection;
use crate::machine::change::Change;
use crate::machine::context::Context;
use crate::machine::decided::{Decided, Draft, Nudge, Write, count_member};
use crate::machine::group;
use crate::machine::operator::cancel_by_cascade;
use crate::machine::retention;
use crate::record::{CancelFlowPolicy, Execution, Flow, Happening, RecordKey};
use crate::state::public_state;

/// Lets a page of members go, each with the counters of its group. `context.gate` is the flow's.
pub fn open_members(flow: &Flow, page: &[(&Execution, group::Counts)], last: bool, context: &Context) -> Decided<()> {
    let mut draft = Draft::default();
    if !flow.opening {
        return Decided { outcome: (), draft };
    }
    for (member, counts) in page.iter().filter(|(member, _)| member.unopened) {
        draft.merge(open_member(member, counts, context).draft);
    }
    end_page(&mut draft, flow, last, context, |flow| flow.opening = false);
    Decided { outcome: (), draft }
}

fn open_member(member: &Execution, counts: &group::Counts, context: &Context) -> Decided<()> {
    let mut change = Change::settled(member, context);
    if change.after.is_terminal() {
        return change.finish(());
    }
    change.after.unopened = false;
    change.note(Happening::Opened, None);
    if group::decide(&mut change, counts) == group::Evaluated::Undecided {
        // An upstream that ended after the counters were read found it unopened, when nobody decides it.
        change.draft.nudge(Nudge::always(RecordKey::Execution(member.id)));
    }
    change.finish(())
}

/// What the cancellation of a flow did to one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// It was cancelled.
    Cancelled,
    /// It has ended, or may finish its current lease.
    Unaffected,
}

/// Cancels a page of members. `context.gate` is the flow's.
pub fn cancel_members(flow: &Flow, page: &[&Execution], last: bool, context: &Context) -> Decided<()> {
    let mut draft = Draft::default();
    let Some(cancellation) = flow.cancellation.as_ref().filter(|_| flow.cancelling) else {
        return Decided { outcome: (), draft };
    };
    for member in page {
        if let Ok(decided) = cancel_member(member, cancellation.policy, &cancellation.reason, context) {
            draft.merge(decided.draft);
        }
    }
    end_page(&mut draft, flow, last, context, |flow| flow.cancelling = false);
    Decided { outcome: (), draft }
}

/// Cancels one member. Under `cancel_pending` a live lease goes on; whoever leaves it without ending is cancelled then.
pub fn cancel_member(
    member: &Execution,
    policy: CancelFlowPolicy,
    reason: &str,
    context: &Context,
) -> Result<Decided<Reached>, Rejection> {
    let change = Change::begin(member, context)?;
    let ended_before = member.is_terminal();
    let ended_now = change.after.is_terminal();
    let finishes = change.after.lease().is_some_and(|lease| !lease.is_expired());
    if ended_now || policy == CancelFlowPolicy::FlowOnly || (finishes && policy == CancelFlowPolicy::CancelPending) {
        // A lapsed lease is cancelled by what was due: the gate let nothing back into the queue.
        let by_gate = change
            .after
            .outcome()
            .is_some_and(|outcome| outcome.cancel_source == Some(SOURCE));
        let reached = if by_gate && !ended_before {
            Reached::Cancelled
        } else {
            Reached::Unaffected
        };
        return Ok(change.finish(reached));
    }
    Ok(cancel_by_cascade(member, reason, context).map(|_| Reached::Cancelled))
}

const SOURCE: crate::record::CancelSource = crate::record::CancelSource::FlowCascade;

/// A member of a deleting flow, with a page of what belongs to it.
#[derive(Clone, Copy, Debug)]
pub struct Doomed<'a> {
    /// The member.
    pub member: &'a Execution,
    /// Records that belong to it: attempts, waitpoints, signals, inbound edges.
    pub parts: &'a [RecordKey],
    /// Whether these are all that are left.
    pub last: bool,
}

/// Deletes a page of members of a deleting flow. The flow itself goes by [`delete`], once it has none.
pub fn delete_members(flow: &Flow, page: &[Doomed<'_>], context: &Context) -> Decided<()> {
    let mut draft = Draft::default();
    if !flow.deleting {
        return Decided { outcome: (), draft };
    }
    for doomed in page {
        draft.merge(retention::delete_execution(doomed.member, doomed.parts, doomed.last));
        if doomed.last {
            count_member(&mut draft, flow.id, Some(public_state(doomed.member)), None);
        }
    }
    // Counters move only beside a put.
    end_page(&mut draft, flow, true, context, |_| ());
    Decided { outcome: (), draft }
}

/// Deletes a page of one member of a flow that stays, and with the last page the member itself, which is then no longer
/// counted.
pub fn delete_member(flow: &Flow, doomed: Doomed<'_>, context: &Context) -> Draft {
    let mut draft = retention::delete_execution(doomed.member, doomed.parts, doomed.last);
    if doomed.last {
        count_member(&mut draft, flow.id, Some(public_state(doomed.member)), None);
        // Counters move only beside a put.
        end_page(&mut draft, flow, true, context, |_| ());
    }
    draft
}

/// Deletes a deleting flow that has no members left.
pub fn delete(loaded: Loaded<'_>) -> Decided<()> {
    let mut draft = Draft::default();
    if loaded.flow.deleting {
        draft.writes.push(Write::Delete(RecordKey::Gate(loaded.flow.id)));
        draft.writes.push(Write::Delete(RecordKey::Flow(loaded.flow.id)));
    }
    Decided { outcome: (), draft }
}

fn end_page(draft: &mut Draft, flow: &Flow, last: bool, context: &Context, done: impl FnOnce(&mut Flow)) {
    if !last {
        return draft.guard(RecordKey::Flow(flow.id));
    }
    let mut flow = flow.clone();
    done(&mut flow);
    flow.updated_at = context.now.max(flow.updated_at);
    draft.put(flow);
}
