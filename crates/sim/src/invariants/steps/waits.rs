//! Waits: held by their suspensions until they are over, and recorded then.

use ff_core::record::{Execution, ResumedBy, WaitStep};

use crate::invariants::mirror::{Changes, Mirror};
use crate::invariants::{Holds, hold};

/// Looks at the waits that begin or end here.
pub(crate) fn check(mirror: &Mirror, (before, after): (&Execution, &Execution), changes: &Changes) -> Holds {
    let id = after.id;
    if let Some(wait) = wait_of(after) {
        let recorded = mirror.steps.get(&id).and_then(|steps| steps.get(&wait.key));
        hold(recorded.is_none(), "a wait has no record before it is over", || {
            format!("{id} waits as {:?} at {}, and has {recorded:?}", wait.key, wait.seq)
        })?;
    }
    let over = wait_of(before).filter(|_| after.suspension().is_none());
    let Some(wait) = over else { return Ok(()) };
    let landed = changes
        .steps
        .iter()
        .filter_map(|transition| transition.after.as_deref());
    let recorded = landed
        .into_iter()
        .find(|step| step.execution_id == id && step.seq == wait.seq && step.key == wait.key);
    // One that ended otherwise leaves nothing; time may end the wait and then the execution, which may be replayed at once.
    let anew = after.runnable().is_some_and(|runnable| !runnable.next_claim.continues);
    let holds = match recorded {
        Some(step) => !after.is_terminal() || step.resumed_by == Some(ResumedBy::Timeout),
        None => after.is_terminal() || anew,
    };
    hold(holds, "a wait that is over is recorded", || {
        let (key, phase) = (&wait.key, &after.phase);
        format!("{id} waited as {key:?}, is {phase:?}, and recorded {recorded:?}")
    })
}

/// The wait that an execution is at.
pub(super) fn wait_of(execution: &Execution) -> Option<&WaitStep> {
    execution.suspension()?.step.as_ref()
}
