//! How far tasks are, where no step takes it along.

use std::sync::Arc;

use ff_core::command::lease::UpdateProgress;
use ff_core::command::steps::ProgressNote;
use ff_core::fabric::{On, Result};
use tokio::time::Instant;

use super::held::Held;
use super::{CALL_PATIENCE, Done, Loop, in_time};

/// Calls at once, each for one task.
const CALLS_MAX: usize = 8;

impl Loop {
    /// Sends the progress of a task by itself, if it is to be; whether there was room for it otherwise.
    pub(super) fn tell_progress(&mut self, number: u64) -> Told {
        let Some(held) = self.held.get_mut(&number).filter(|held| held.progress_is_due()) else {
            return Told::Nothing;
        };
        if self.notes_under_way == CALLS_MAX {
            return Told::Later;
        }
        let Some(note) = held.progress.take() else {
            return Told::Nothing;
        };
        held.is_reporting = true;
        self.notes_under_way += 1;
        let update = UpdateProgress {
            fence: Some(held.fence),
            progress: note.clone(),
        };
        let (fabric, update) = (Arc::clone(&self.shared.fabric), On::new(held.execution_id, update));
        self.under_way.push(Box::pin(async move {
            let answer = in_time(CALL_PATIENCE, fabric.update_progress(update)).await;
            Done::Noted(number, note, answer.map(drop))
        }));
        Told::OnItsWay
    }

    pub(super) fn noted(&mut self, number: u64, note: ProgressNote, answer: Result<()>) {
        self.notes_under_way -= 1;
        let Some(held) = self.held.get_mut(&number) else { return };
        match answer {
            Ok(()) => held.backoff.reset(),
            Err(refusal) if refusal.code.retryable() => {
                self.connection.broke(&refusal);
                held.progress.put_back(Some(note));
                held.quiet_until = Some(Instant::now() + held.backoff.pause());
            }
            Err(refusal) => {
                tracing::debug!(%refusal, execution_id = %held.execution_id, "how far a task is could not be told");
                held.note_refusal(&refusal);
            }
        }
        held.has_reported();
        self.talkative.push_back(number);
    }
}

/// What came of telling a task's progress.
pub(super) enum Told {
    Nothing,
    OnItsWay,
    /// Too many are on their way.
    Later,
}

impl Held {
    /// Whether its progress is to be told without a step: because it has waited, or because the task is let go.
    fn progress_is_due(&self) -> bool {
        let is_alone = !self.progress.is_empty() && self.steps.is_empty();
        is_alone && (self.progress.wait.is_over() || self.finish.is_some())
    }
}
