//! Recording and reading steps.

use ff_core::command::claim::Task;
use ff_core::command::steps::{ReadSteps, RecordSteps, RecordedSteps, StepPage, StepReport, StepStatus, StepView};
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::name::StepKey;
use ff_core::payload::Payload;
use serde_json::json;

use super::Scene;

impl Scene<'_> {
    /// Records steps of a task.
    pub(crate) async fn record(&self, task: &Task, steps: Vec<StepReport>) -> Result<RecordedSteps> {
        let command = RecordSteps {
            fence: Some(task.fence),
            steps,
            progress: None,
        };
        self.fabric.record_steps(On::new(task.execution_id, command)).await
    }

    /// Records steps, which must be possible, and answers where they stand.
    pub(crate) async fn recorded(&self, task: &Task, steps: Vec<StepReport>) -> Vec<(u64, StepStatus)> {
        let recorded = self.record(task, steps).await.unwrap();
        recorded.steps.iter().map(|step| (step.seq, step.status)).collect()
    }

    /// Steps with what they left.
    pub(crate) async fn steps_from(&self, id: ExecutionId, from_seq: u64, limit: usize) -> StepPage {
        let read = ReadSteps {
            from_seq: Some(from_seq),
            limit: Some(limit),
            outputs: true,
            forgotten: false,
        };
        self.fabric.read_steps(On::new(id, read)).await.unwrap()
    }

    /// All steps of an execution that has few.
    pub(crate) async fn steps(&self, id: ExecutionId) -> Vec<StepView> {
        self.steps_from(id, 0, 50).await.items
    }
}

/// A step that left a text.
pub(crate) fn done(key: &str, output: &str) -> StepReport {
    StepReport::done(step_key(key), Some(Payload::json(&json!(output))))
}

pub(crate) fn step_key(text: &str) -> StepKey {
    StepKey::parse(text).unwrap()
}

/// The names and places of steps.
pub(crate) fn named(steps: &[StepView]) -> Vec<(&str, u64)> {
    steps.iter().map(|step| (step.key.as_str(), step.seq)).collect()
}

/// What a task brings of steps.
pub(crate) fn brought(task: &Task) -> &[StepView] {
    task.journal.as_ref().map_or(&[], |journal| &journal.steps)
}
