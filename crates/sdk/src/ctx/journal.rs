//! What was recorded before this run of a handler.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff_core::command::steps::StepView;
use ff_core::date;
use ff_core::name::StepKey;
use ff_core::record::{StepKind, StepState};

use crate::task_error::TaskError;

/// What was recorded before this run of a handler, by key.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    recorded: HashMap<StepKey, StepView>,
    /// What the handler has called in this run.
    called: Mutex<HashSet<StepKey>>,
}

impl Journal {
    pub(crate) fn new(steps: impl IntoIterator<Item = StepView>) -> Self {
        Self {
            // A key that was replaced stands twice; the later one counts.
            recorded: steps.into_iter().map(|step| (step.key.clone(), step)).collect(),
            called: Mutex::default(),
        }
    }

    /// What is recorded under a key, which is called once in a run.
    pub(crate) fn call(&self, key: &StepKey, kind: StepKind) -> Result<Option<&StepView>, TaskError> {
        if !self.called().insert(key.clone()) {
            return Err(TaskError::permanent(format!(
                "step {key} was called before in this run of the handler: each call needs a key of its own, or none"
            )));
        }
        match self.recorded.get(key) {
            Some(step) if step.kind != kind => Err(differs(step, &format!("is now called as {}", word(kind)))),
            found => Ok(found),
        }
    }

    /// What is recorded under a key that was called.
    pub(crate) fn recorded(&self, key: &StepKey) -> Option<&StepView> {
        self.recorded.get(key)
    }

    /// Whether what a key stands for is over.
    pub(crate) fn is_done(&self, key: &StepKey) -> bool {
        self.recorded(key).is_some_and(|step| step.state == StepState::Done)
    }

    /// Recorded keys that this run has not asked for.
    pub(crate) fn unused(&self) -> Vec<&StepKey> {
        let called = self.called();
        let mut unused: Vec<_> = self.recorded.keys().filter(|key| !called.contains(*key)).collect();
        unused.sort();
        unused
    }

    fn called(&self) -> MutexGuard<'_, HashSet<StepKey>> {
        self.called.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is told where a record is not what the code makes of it now.
pub(crate) fn differs(step: &StepView, how: &str) -> TaskError {
    let (key, kind, attempt) = (&step.key, word(step.kind), step.attempt_index);
    let day = date::write(step.recorded_at);
    TaskError::permanent(format!(
        "step {key} was recorded as {kind} on {day} by attempt {attempt}, and {how}; rename the step or replay with steps=none"
    ))
}

const fn word(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Run => "run",
        StepKind::Sleep => "sleep",
        StepKind::Wait => "wait",
        StepKind::Spawn => "spawn",
    }
}
