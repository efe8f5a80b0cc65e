//! What is recorded of steps, and what is read of it.

use ff_core::command::steps::{StepReport, StepView};
use ff_core::error::Rejection;
use ff_core::name::StepKey;
use ff_core::payload::Payload;
use ff_core::record::{Failure, StepState};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Ctx;
use super::gate::Pause;
use super::journal::differs;
use crate::json;
use crate::task_error::TaskError;
use crate::worker::{codec_failed, is_lost};

/// What a record is to the step that is called now.
pub(super) enum Recorded<T> {
    Value(T),
    /// It was called with something else, or has not ended.
    Outdated,
}

impl Ctx {
    /// What a record is to the step that is called now, with a digest of what it is called with.
    pub(super) async fn recorded<T: DeserializeOwned>(
        &self,
        step: &StepView,
        digest: Option<&str>,
    ) -> Result<Recorded<T>, TaskError> {
        let is_other = |(recorded, now): (&str, &str)| recorded != now;
        if step.input_digest.as_deref().zip(digest).is_some_and(is_other) {
            tracing::info!(step = %step.key, "the step is called with something else than when it was recorded: it runs again");
            return Ok(Recorded::Outdated);
        }
        match (step.state, &step.failure) {
            (StepState::Done, _) => self.read(step).await.map(Recorded::Value),
            (StepState::Failed, Some(failure)) => Err(TaskError::recorded(failure.clone())),
            (StepState::Failed | StepState::Started | StepState::Waiting, _) => Ok(Recorded::Outdated),
        }
    }

    /// The value of a record.
    pub(super) async fn read<T: DeserializeOwned>(&self, step: &StepView) -> Result<T, TaskError> {
        let stored = step.output.clone().unwrap_or_default();
        let payload = self.open(&format!("step {}", step.key), stored).await?;
        json::read(&payload).map_err(|problem| differs(step, &format!("what it left {problem}")))
    }

    /// Through the codec.
    pub(super) async fn open(&self, what: &str, stored: Payload) -> Result<Payload, TaskError> {
        if stored.is_empty() {
            return Ok(stored);
        }
        self.run
            .codec
            .decode(stored)
            .await
            .map_err(|error| codec_failed(what, &error))
    }

    /// Records what a body gave.
    pub(super) async fn record_value(&self, mut report: StepReport, value: Payload) -> Result<(), TaskError> {
        let stored = self.run.codec.encode(value).await;
        report.output = Some(stored.map_err(|error| codec_failed(&format!("step {}", report.key), &error))?);
        self.record(report).await
    }

    /// Records that a step failed for good; the error is what it comes to.
    pub(super) async fn record_failure(
        &self,
        mut report: StepReport,
        error: TaskError,
    ) -> Result<TaskError, TaskError> {
        let failure: Failure = error.into_failure();
        report.state = StepState::Failed;
        report.failure = Some(failure.clone());
        self.record(report).await?;
        Ok(TaskError::recorded(failure))
    }

    /// Records a step under the lease. Without one the handler cannot go on.
    pub(super) async fn record(&self, report: StepReport) -> Result<(), TaskError> {
        let Some(lease) = &self.run.lease else { return Ok(()) };
        let key = report.key.clone();
        match lease.record(report).await {
            Ok(recorded) => {
                self.note_budgets(&key, &recorded.budgets)?;
                Ok(())
            }
            Err(refusal) if is_lost(refusal.code) => self.pause_with(None, Pause::Abandon).await,
            Err(refusal) => Err(not_recorded(&key, &refusal)),
        }
    }
}

/// What is recorded of a value, and what will be read of it: that is what the step gives, the first time too.
pub(super) fn written<T: Serialize + DeserializeOwned>(key: &StepKey, value: &T) -> Result<(Payload, T), TaskError> {
    let payload = json::write(value)
        .map_err(|error| TaskError::permanent(format!("what step {key} gives has no JSON form: {error}")))?;
    let read = json::read(&payload).map_err(|problem| {
        TaskError::permanent(format!("what step {key} gives could never be read again: it {problem}"))
    })?;
    Ok((payload, read))
}

/// A step that the engine does not take: trying again may help with some refusals, and not with others.
fn not_recorded(key: &StepKey, refusal: &Rejection) -> TaskError {
    let told = format!("step {key} could not be recorded: {refusal}");
    match refusal.code.retryable() {
        true => TaskError::transient(told),
        false => TaskError::permanent(told),
    }
}
