//! Steps that stand for executions which were started.

use super::record::{conflict, live, next_step, write};
use crate::digest::Digest;
use crate::error::Rejection;
use crate::id::ExecutionId;
use crate::machine::change::Change;
use crate::name::StepKey;
use crate::record::{Execution, Journal, OutcomeKind, Step, StepKind};

/// The execution that the step of this name started, and the step's place. `spawned`: those executions that are there.
pub(crate) fn find_spawn(
    change: &Change<'_>,
    key: &StepKey,
    spawned: &[&Execution],
) -> Result<Option<(ExecutionId, u64)>, Rejection> {
    let Some(step) = live(change, key) else {
        return Ok(None);
    };
    let Some(child) = step.child.filter(|_| step.kind == StepKind::Spawn) else {
        return Err(conflict(change, step));
    };
    let there = spawned.iter().find(|execution| execution.id == child).copied();
    Ok(is_remembered(&change.after.steps, step, there).then_some((child, step.seq)))
}

/// Records that an execution was started.
pub(crate) fn record_spawn(change: &mut Change<'_>, key: &StepKey, child: ExecutionId) -> (ExecutionId, u64) {
    let step = Step {
        kind: StepKind::Spawn,
        child: Some(child),
        content_digest: Digest::of("spawn", [child.to_string()]).to_string(),
        ..next_step(change, key.clone())
    };
    (child, write(change, step, None).seq)
}

/// Whether a step counts as recorded. `child` is the execution it started, if that is there: once a replay has forgotten
/// what failed, an execution that ended other than by success is started anew.
pub fn is_remembered(journal: &Journal, step: &Step, child: Option<&Execution>) -> bool {
    if journal.has_forgotten(step) {
        return false;
    }
    if step.kind != StepKind::Spawn || !journal.has_forgotten_failure(step) {
        return true;
    }
    match child.map(|child| child.outcome().map(|outcome| outcome.kind)) {
        Some(None | Some(OutcomeKind::Success)) => true,
        Some(Some(_)) | None => false,
    }
}
