//! Steps that give up the lease: sleeps, which the delay records, and waits, which their suspension holds until it is over.

use super::record::{check_room, conflict, live, next_step, step_at, write};
use crate::digest::Digest;
use crate::error::Rejection;
use crate::machine::change::Change;
use crate::name::StepKey;
use crate::record::{RecordKey, ResumedBy, Step, StepKind, WaitStep};
use crate::time::Timestamp;

/// Records a sleep as done: nothing is handed out before it is over. One that was recorded before stays as it is.
pub(crate) fn record_sleep(change: &mut Change<'_>, key: &StepKey, until: Timestamp) -> Result<(), Rejection> {
    match live(change, key) {
        Some(step) if step.kind == StepKind::Sleep => return Ok(()),
        Some(step) => return Err(conflict(change, step)),
        None => {}
    }
    let step = Step {
        kind: StepKind::Sleep,
        until: Some(until),
        content_digest: digest("sleep", key),
        ..next_step(change, key.clone())
    };
    write(change, step, None);
    check_room(change)
}

/// What a suspend finds under the name of its wait.
pub(crate) enum Wait {
    /// It has begun.
    Begun(WaitStep),
    /// It is over.
    Over(Box<Step>),
}

/// Begins a wait: it has a place from now on, and room when it is over.
pub(crate) fn begin_wait(change: &mut Change<'_>, key: &StepKey) -> Result<Wait, Rejection> {
    match live(change, key) {
        Some(step) if step.kind == StepKind::Wait => return Ok(Wait::Over(Box::new(step.clone()))),
        Some(step) => return Err(conflict(change, step)),
        None => {}
    }
    change.after.steps.count += 1;
    check_room(change)?;
    change.after.steps.count -= 1;
    let seq = change.after.steps.next_seq;
    change.after.steps.next_seq += 1;
    Ok(Wait::Begun(WaitStep {
        key: key.clone(),
        seq,
        signals: Vec::new(),
    }))
}

/// Sees to it that there is no step of this name when the wait is over: whoever resumes the execution has read none, and
/// nobody has a lease in between.
pub(crate) fn make_room_for(change: &mut Change<'_>, wait: &WaitStep) {
    let key = RecordKey::Step(change.after.id, wait.key.clone());
    match change.context.steps.stored(&wait.key) {
        Some(_) => change.draft.delete(key),
        None => change.draft.guard(key),
    }
}

/// A wait is over: it is recorded with what ended it.
pub(crate) fn end_wait(change: &mut Change<'_>, wait: WaitStep, by: ResumedBy) {
    let step = Step {
        kind: StepKind::Wait,
        content_digest: digest("wait", &wait.key),
        resumed_by: Some(by),
        signals: wait.signals,
        ..step_at(change, wait.key, wait.seq)
    };
    write(change, step, None);
}

fn digest(kind: &str, key: &StepKey) -> String {
    Digest::of(kind, [key.as_str()]).to_string()
}
