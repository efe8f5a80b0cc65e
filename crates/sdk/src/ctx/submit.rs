//! Submitting other tasks: a step, because the handler starts again after every wait.

use std::sync::{Arc, Mutex, PoisonError};

use ff_core::error::Code;
use ff_core::id::ExecutionId;

use super::Ctx;
use crate::error::Error;
use crate::run::Run;
use crate::submit::{IntoSubmission, Submission};
use crate::task::Task;
use crate::task_error::TaskError;

impl Ctx {
    /// Submits a task and goes on without waiting for it. It is submitted once, whatever happens to the handler: the key of the
    /// submission is that of the execution and this step.
    ///
    /// Takes a task, or [`Submission::new`](crate::Submission::new) of one with its options.
    pub async fn submit<S: IntoSubmission>(
        &self,
        name: &str,
        task: S,
    ) -> Result<Run<<S::Task as Task>::Output>, TaskError> {
        let client = self.run.client.clone();
        // A body may be asked for twice; this one is tried once, and takes what it submits with it.
        let submission = Arc::new(Mutex::new(Some(self.traced(task))));
        let id: ExecutionId = self
            .step(name, |step| async move {
                let submission = submission.lock().unwrap_or_else(PoisonError::into_inner).take();
                let submission = submission.ok_or_else(|| TaskError::permanent("this was submitted before"))?;
                let submission = submission.idempotency_key(step.key()).accept_other_content();
                let run = client.submit(submission).await.map_err(not_submitted)?;
                Ok(run.id())
            })
            .await?;
        Ok(self.run.client.run::<S::Task>(id))
    }

    /// A submission in the trace of this task.
    pub(super) fn traced<S: IntoSubmission>(&self, task: S) -> Submission<S::Task> {
        let mut submission = task.into_submission();
        submission.options.traced_as(self.tags());
        submission
    }
}

/// What cannot be submitted will not be later either, unless the engine could not be reached.
pub(super) fn not_submitted(error: Error) -> TaskError {
    match error.is_retryable() || error.code() == Some(Code::Unavailable) {
        true => TaskError::transient(error),
        false => TaskError::permanent(error),
    }
}
