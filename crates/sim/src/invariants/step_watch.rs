//! What callers send, are told and are shown of steps.

use ff_core::command::claim::Task;
use ff_core::command::steps::{KeepSteps, ReadSteps, RecordedStep, StepPage, StepReport};
use ff_core::id::ExecutionId;
use ff_core::name::StepKey;
use ff_core::payload::Payload;
use ff_core::record::{Fence, StepKind};

use super::steps::{self, Looking, SentSteps};
use super::watch::{Inner, Watch};

impl Watch {
    /// A holder is about to record steps.
    pub fn records_steps(&self, id: ExecutionId, fence: Fence, steps: Vec<StepReport>) -> SentSteps {
        let mut inner = self.inner();
        inner.asked.records(id, &steps);
        sent(&inner, (id, fence), steps)
    }

    /// A holder is about to end its lease with steps.
    pub fn ends_with_steps(&self, id: ExecutionId, fence: Fence, steps: Vec<StepReport>) -> SentSteps {
        let mut inner = self.inner();
        inner.asked.ends(id, fence, &steps);
        sent(&inner, (id, fence), steps)
    }

    /// A holder was told where its steps are.
    pub fn recorded_steps(&self, sent: &SentSteps, answers: &[RecordedStep]) {
        let mut inner = self.inner();
        let Inner {
            mirror, step_promises, ..
        } = &mut *inner;
        let holds = step_promises.recorded(mirror, sent, answers);
        inner.judge(holds);
    }

    /// A holder was told that its lease ended, or need not end, with these steps, and perhaps with a sleep or a wait that is
    /// over.
    pub fn ended_with_steps(&self, sent: &SentSteps, paused: Option<(&StepKey, StepKind)>) {
        let mut inner = self.inner();
        let Inner {
            mirror,
            step_promises,
            asked,
            ..
        } = &mut *inner;
        let mut holds = step_promises.ended(mirror, sent, asked);
        if let Some(paused) = paused {
            holds = holds.and_then(|()| step_promises.paused(mirror, (sent, asked), paused));
        }
        inner.judge(holds);
    }

    /// Somebody is about to replay an execution.
    pub fn asks_to_replay(&self, id: ExecutionId, keep: Option<KeepSteps>) {
        self.inner().asked.replays(id, keep);
    }

    /// A worker was given a task.
    pub fn brought(&self, task: &Task) {
        let mut inner = self.inner();
        let holds = steps::brought((&inner.mirror, &inner.step_promises), task);
        inner.judge(holds);
    }

    /// Somebody begins to read the steps of an execution.
    pub fn looks_at_steps(&self, id: ExecutionId) -> Option<Looking> {
        Looking::begin(&self.inner().mirror, id)
    }

    /// A reader was shown a page.
    pub fn showed_steps(&self, looking: &Looking, asked: &ReadSteps, page: &StepPage) {
        let mut inner = self.inner();
        let holds = steps::shows((&inner.mirror, &inner.step_promises), looking, (asked, page));
        inner.judge(holds);
    }

    /// A reader was given what the step at a place left; `None`: was told that there is nothing.
    pub fn gave_output(&self, looking: &Looking, seq: u64, output: Option<&Payload>) {
        let mut inner = self.inner();
        let holds = steps::gave((&inner.mirror, &inner.step_promises), looking, (seq, output));
        inner.judge(holds);
    }

    /// The live steps of an execution, by name and place.
    pub fn live_steps(&self, id: ExecutionId) -> Vec<(StepKey, u64)> {
        let inner = self.inner();
        let execution = inner.mirror.executions.get(&id);
        let live = execution.map(|execution| inner.mirror.live_steps(execution));
        let live = live.into_iter().flatten();
        live.map(|step| (step.key.clone(), step.seq)).collect()
    }

    /// Executions that have live steps.
    pub fn executions_with_steps(&self) -> Vec<ExecutionId> {
        self.ids_of(|execution| execution.steps.count > 0)
    }
}

fn sent(inner: &Inner, (id, fence): (ExecutionId, Fence), steps: Vec<StepReport>) -> SentSteps {
    SentSteps {
        id,
        fence,
        steps,
        failovers: inner.mirror.failovers,
    }
}
