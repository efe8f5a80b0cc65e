//! Readers and tasks are given the live steps in their order, with what they left.

use std::collections::BTreeSet;
use std::sync::Arc;

use ff_core::command::claim::Task;
use ff_core::command::steps::{ReadSteps, StepPage, StepView};
use ff_core::id::ExecutionId;
use ff_core::name::StepKey;
use ff_core::payload::Payload;
use ff_core::record::{Execution, Step, StepKind, StepState};

use super::promises::StepPromises;
use super::waits::wait_of;
use crate::invariants::mirror::Mirror;
use crate::invariants::{Holds, hold};

const SHOWN: &str = "readers are shown the steps there are";

/// An execution as it was when somebody began to read its steps.
pub struct Looking {
    execution: Arc<Execution>,
    failovers: u64,
}

/// What a step says of itself, as far as it is compared.
type Line = (u64, StepKey, StepState);

impl Looking {
    /// Somebody begins to read.
    pub(crate) fn begin(mirror: &Mirror, id: ExecutionId) -> Option<Self> {
        Some(Self {
            execution: Arc::clone(mirror.executions.get(&id)?),
            failovers: mirror.failovers,
        })
    }

    /// The execution, if nothing was written to it since: then only one answer is right.
    fn unchanged<'a>(&self, mirror: &'a Mirror) -> Option<&'a Execution> {
        let now = mirror.executions.get(&self.execution.id)?;
        let same = Arc::ptr_eq(now, &self.execution) && mirror.failovers == self.failovers;
        same.then_some(&**now)
    }
}

/// The live steps of an execution, and the wait it is at, from a place on.
fn lines(mirror: &Mirror, execution: &Execution, from: u64) -> Vec<Line> {
    let live = mirror.live_steps(execution);
    let live = live.iter().filter(|step| !hangs_on_child(execution, step));
    let live = live.map(|step| (step.seq, step.key.clone(), step.state));
    let wait = wait_of(execution).map(|wait| (wait.seq, wait.key.clone(), StepState::Waiting));
    let mut all: Vec<Line> = live.chain(wait).filter(|(seq, ..)| *seq >= from).collect();
    all.sort_unstable_by_key(|(seq, ..)| *seq);
    all
}

/// Whether a step is shown depends on how the execution that it started stands, which may change meanwhile.
fn hangs_on_child(execution: &Execution, step: &Step) -> bool {
    step.kind == StepKind::Spawn && execution.steps.has_forgotten_failure(step)
}

fn shown(mirror: &Mirror, execution: &Execution, steps: &[StepView]) -> Vec<Line> {
    let live = mirror.live_steps(execution);
    let hanging: BTreeSet<u64> = live
        .iter()
        .filter(|step| hangs_on_child(execution, step))
        .map(|step| step.seq)
        .collect();
    let line = |step: &StepView| (step.seq, step.key.clone(), step.state);
    let shown = steps.iter().filter(|step| !hanging.contains(&step.seq));
    shown.map(line).collect()
}

/// A reader was shown a page.
pub(crate) fn shows(
    (mirror, promises): (&Mirror, &StepPromises),
    looking: &Looking,
    (asked, page): (&ReadSteps, &StepPage),
) -> Holds {
    let Some(execution) = looking.unchanged(mirror) else {
        return Ok(());
    };
    let mut expected = lines(mirror, execution, asked.from_seq.unwrap_or(0));
    if let Some(next) = page.next {
        expected.retain(|(seq, ..)| *seq < next);
    }
    let id = execution.id;
    hold(shown(mirror, execution, &page.items) == expected, SHOWN, || {
        format!("{id}: {asked:?} was answered with {page:?}, and there are {expected:?}")
    })?;
    match asked.outputs {
        true => outputs_are_right(promises, id, &page.items),
        false => Ok(()),
    }
}

/// A reader was given what a step left, or told that there is nothing.
pub(crate) fn gave(
    (mirror, promises): (&Mirror, &StepPromises),
    looking: &Looking,
    (seq, given): (u64, Option<&Payload>),
) -> Holds {
    let Some(execution) = looking.unchanged(mirror) else {
        return Ok(());
    };
    let id = execution.id;
    let live = mirror.live_steps(execution);
    let step = live.iter().find(|step| step.seq == seq);
    let bytes = step.and_then(|step| step.output_bytes);
    hold(given.map(|given| given.len() as u64) == bytes, SHOWN, || {
        format!("{id}: the output at {seq} was answered with {given:?}, and it is of {step:?}")
    })?;
    let promised = promises.output(id, seq).filter(|_| step.is_some());
    hold(
        promised.is_none_or(|promised| promised.as_ref() == given),
        "an acknowledged output is kept",
        || format!("{id}: the step at {seq} left {promised:?}, and {given:?} was read"),
    )
}

/// A worker was given a task: it brings all there was when it was answered. Whoever asked twice looks at the first answer late, when
/// somebody who redeemed the same grant may have recorded something under the lease.
pub(crate) fn brought((mirror, promises): (&Mirror, &StepPromises), task: &Task) -> Holds {
    const BROUGHT: &str = "a task brings the steps there are";
    let id = task.execution_id;
    let held = mirror.executions.get(&id).filter(|execution| {
        let fence = execution
            .lease()
            .zip(execution.attempt.as_ref())
            .map(|(lease, attempt)| lease.fence(attempt.id));
        fence == Some(task.fence)
    });
    let Some(execution) = held else {
        return Ok(());
    };
    let live = mirror.live_steps(execution);
    if live.iter().any(|step| step.recorded_at >= task.now) {
        return Ok(());
    }
    let expected = lines(mirror, execution, 0);
    let Some(journal) = &task.journal else {
        return hold(expected.is_empty(), BROUGHT, || {
            format!("{id}: the task brings none of {expected:?}")
        });
    };
    let known = (execution.steps.count, execution.steps.bytes);
    let all = journal.next.is_none() && shown(mirror, execution, &journal.steps) == expected;
    hold(all && (journal.count, journal.bytes) == known, BROUGHT, || {
        format!("{id}: the task brings {journal:?}, and there are {expected:?}")
    })?;
    outputs_are_right(promises, id, &journal.steps)
}

fn outputs_are_right(promises: &StepPromises, id: ExecutionId, steps: &[StepView]) -> Holds {
    for step in steps {
        let promised = promises.output(id, step.seq);
        hold(
            promised.is_none_or(|promised| *promised == step.output),
            "an acknowledged output is kept",
            || {
                format!(
                    "{id}: {promised:?} was recorded at {}, and is read as {step:?}",
                    step.seq
                )
            },
        )?;
    }
    Ok(())
}
