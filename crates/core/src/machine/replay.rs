//! terminal → waiting or waiting_children: replay_execution.

use super::change::Change;
use super::context::Context;
use super::decided::{Decided, Nudge};
use super::steps;
use crate::command::flow::{ReplayExecution, Replayed};
use crate::command::steps::KeepSteps;
use crate::error::{Code, Rejection};
use crate::record::{
    AttemptKind, Definition, Execution, FollowUps, GateState, Happening, OutcomeKind, RecordKey, RequestOutcome, Step,
};
use crate::time::{Timestamp, earliest};

/// What was loaded besides the execution that is replayed.
#[derive(Clone, Debug, PartialEq)]
pub struct Past {
    /// Its last attempt stands as a record of its own already: another one was to follow it when the execution ended.
    pub archived: bool,
    /// It has failed edges, inbound or outbound: they are reopened before it may be claimed.
    pub has_failed_edges: bool,
    /// Everything that was ever recorded of what its handler did.
    pub steps: Vec<Step>,
}

/// Reopens a terminal execution for another run. `context.gate` is its flow's.
pub fn replay(
    execution: &Execution,
    command: &ReplayExecution,
    past: &Past,
    context: &Context,
) -> Result<Decided<Replayed>, Rejection> {
    let mut change = Change::begin(execution, context)?;
    if change
        .after
        .requests
        .remembers(command.request_id.as_ref(), &RequestOutcome::Replayed)
    {
        return Ok(change.finish(Replayed::Already));
    }
    check(&mut change)?;
    let owes_edges =
        change.after.definition.flow.is_some() && (past.has_failed_edges || change.after.follow_ups.resolve_edges);
    steps::forget(&mut change, &kept_steps(execution, command), &past.steps)?;
    if !past.archived {
        change.archive_attempt();
    }
    change.after.counts.replays += 1;
    change
        .after
        .requests
        .remember(command.request_id.as_ref(), RequestOutcome::Replayed);
    restart(&mut change, AttemptKind::Replay, owes_edges);
    change.note(Happening::Replayed, None);
    Ok(change.finish(Replayed::Now))
}

/// What a replay keeps when nobody said: who replays a success wants it done anew.
fn kept_steps(execution: &Execution, command: &ReplayExecution) -> KeepSteps {
    let succeeded = execution
        .outcome()
        .is_some_and(|outcome| outcome.kind == OutcomeKind::Success);
    let unsaid = if succeeded { KeepSteps::None } else { KeepSteps::Done };
    command.steps.clone().unwrap_or(unsaid)
}

fn check(change: &mut Change<'_>) -> Result<(), Rejection> {
    let id = change.after.id;
    if !change.after.is_terminal() {
        return Err(Code::ExecutionNotTerminal.because(format!("execution {id} has not ended")));
    }
    if let Some(flow) = change.after.definition.flow {
        change.draft.guard(RecordKey::Gate(flow));
        if !change.context.gate.is_some_and(GateState::takes_members) {
            return Err(
                Code::FlowAlreadyTerminal.because(format!("flow {flow} of execution {id} is sealed or cancelled"))
            );
        }
    }
    let max = change.after.definition.policy.replays_max();
    if change.after.counts.replays >= max {
        return Err(Code::MaxReplaysExhausted.because(format!("execution {id} was replayed {max} times already")));
    }
    Ok(())
}

/// Makes a terminal execution runnable again, from its first tier, as if it had just been submitted. One that never ran
/// waits for its dependencies; one that ran had them. Epoch, attempts, tags and what its last success left stay.
pub(crate) fn restart(change: &mut Change<'_>, kind: AttemptKind, owes_edges: bool) {
    let next_claim = change.new_attempt(kind, 0);
    change.requeue(next_claim, None);
    let waits = !change.after.has_run();
    let after = &mut change.after;
    after.counts.retries = 0;
    after.counts.reclaims = 0;
    after.counts.unconfirmed_returns = 0;
    after.progress = None;
    after.deadline_at = deadline(&after.definition, change.now);
    after.unopened = change.context.gate == Some(GateState::Assembling);
    after.follow_ups = FollowUps {
        reopen_edges: owes_edges,
        // Its group was decided and stays so, unless it waits for it anew.
        cancel_siblings: after.follow_ups.cancel_siblings && !waits,
        resolve_edges: false,
    };
    if let Some(dependencies) = &mut after.dependencies {
        dependencies.waiting = waits && dependencies.fixed;
    }
    change.draft.nudge(Nudge::always(RecordKey::Execution(change.after.id)));
}

/// A relative deadline counts from now; a given one stays unless it has passed.
fn deadline(definition: &Definition, now: Timestamp) -> Option<Timestamp> {
    let relative = definition
        .policy
        .timeout_policy
        .as_ref()
        .and_then(|timeout| timeout.execution_deadline);
    let given = definition.execution_deadline_at.filter(|at| !at.has_come(now));
    earliest([relative.map(|relative| now + relative), given])
}
