//! An end is an end: nothing is left of an ended execution but its retention, and only a replay brings it back.

use ff_core::machine::time;
use ff_core::record::{Execution, Outcome};

use super::mirror::Changes;
use super::{Holds, hold};

/// Looks at every execution a transaction wrote.
pub(crate) fn check(changes: &Changes) -> Holds {
    for transition in &changes.executions {
        let Some(after) = transition.after.as_deref() else {
            continue;
        };
        if let Some(outcome) = after.outcome() {
            nothing_is_left(after, outcome)?;
        }
        if let Some(before) = transition.before.as_deref() {
            ends_stay(before, after)?;
            what_was_submitted_stays(before, after)?;
        }
    }
    Ok(())
}

fn nothing_is_left(execution: &Execution, outcome: &Outcome) -> Holds {
    let id = execution.id;
    let bare = execution.hold.is_none() && !execution.unopened && execution.pending_waitpoints.is_empty();
    let attempt_ended = execution.attempt.as_ref().is_none_or(|attempt| attempt.end.is_some());
    hold(
        bare && attempt_ended,
        "an ended execution has no hold and no running attempt",
        || format!("{id}: {:?} {:?}", execution.hold, execution.attempt),
    )?;
    let owes = !execution.outbox.is_empty() || execution.follow_ups.any() || outcome.deleting;
    let due_at = time::due_at(execution);
    hold(
        owes || due_at == outcome.delete_at,
        "only retention is left to time",
        || format!("{id}: due at {due_at:?}, kept until {:?}", outcome.delete_at),
    )
}

fn ends_stay(before: &Execution, after: &Execution) -> Holds {
    let Some(ended) = before.outcome() else { return Ok(()) };
    let replayed = after.counts.replays > before.counts.replays;
    let reopened = after.outcome().is_none() && !before.has_run();
    let unchanged = after
        .outcome()
        .is_some_and(|outcome| outcome.kind == ended.kind && outcome.at == ended.at);
    hold(
        unchanged || replayed || reopened,
        "an ended execution comes back only by replay",
        || {
            let id = before.id;
            format!("{id}: {:?} became {:?}", before.phase, after.phase)
        },
    )
}

fn what_was_submitted_stays(before: &Execution, after: &Execution) -> Holds {
    let joined = before.definition.flow.is_none() && after.definition.flow.is_some();
    let same = before.definition == after.definition || joined;
    let forward = after.updated_at >= before.updated_at;
    hold(
        same && forward,
        "what was submitted is frozen, and no record gets older",
        || {
            let (id, from, to) = (before.id, before.updated_at, after.updated_at);
            format!("{id}: written at {from} and then at {to}")
        },
    )
}
