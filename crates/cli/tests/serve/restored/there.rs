//! What the restored store knows in the end.

use std::collections::{HashMap, HashSet};

use ff_core::id::{ExecutionId, SignalId};
use serde_json::Value;

use crate::killed::found::Found;
use crate::killed::told::{Line, Recorded, Sent};

/// Everything by which something that was told can be recognised. What it knows of before it was copied it does not forget.
pub(super) struct There<'a> {
    executions: HashMap<ExecutionId, One<'a>>,
    /// Signals it did not know, so that it took them when they were sent again.
    sent_again: HashSet<SignalId>,
}

struct One<'a> {
    steps: HashSet<u64>,
    frames: HashSet<u64>,
    signals: HashSet<SignalId>,
    result: Option<&'a Value>,
}

impl<'a> There<'a> {
    pub(super) fn of(found: &'a [Found], sent_again: HashSet<SignalId>) -> Self {
        let one = |found: &'a Found| One {
            steps: found.steps.iter().copied().collect(),
            frames: found.frames.iter().flatten().map(|(_, number)| *number).collect(),
            signals: found.signals.iter().copied().collect(),
            result: found.result.as_ref(),
        };
        let executions = found.iter().map(|found| (found.view.execution_id, one(found)));
        Self {
            executions: executions.collect(),
            sent_again,
        }
    }

    pub(super) fn execution(&self, id: ExecutionId) -> bool {
        self.executions.contains_key(&id)
    }

    /// Any of the steps of a call; whether the others are is looked at later.
    pub(super) fn steps(&self, id: ExecutionId, recorded: &Recorded) -> bool {
        self.about(id, |one| {
            recorded.numbers.iter().any(|number| one.steps.contains(number))
        })
    }

    pub(super) fn frame(&self, id: ExecutionId, line: &Line) -> bool {
        self.about(id, |one| one.frames.contains(&line.number))
    }

    pub(super) fn result(&self, id: ExecutionId, result: &Value) -> bool {
        self.about(id, |one| one.result == Some(result))
    }

    pub(super) fn signal(&self, sent: &Sent) -> bool {
        !self.sent_again.contains(&sent.signal_id) && self.about(sent.id, |one| one.signals.contains(&sent.signal_id))
    }

    fn about(&self, id: ExecutionId, check: impl FnOnce(&One<'_>) -> bool) -> bool {
        self.executions.get(&id).is_some_and(check)
    }
}
