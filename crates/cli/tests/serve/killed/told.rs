//! What clients said, and what they were told.

use std::collections::HashMap;
use std::time::Instant;

use ff_core::command::claim::Task;
use ff_core::command::waitpoint::IssuedWaitpoint;
use ff_core::error::Code;
use ff_core::frame::FrameId;
use ff_core::id::{ExecutionId, SignalId};

/// When something was asked for, and when its answer came: what a server did of it, it did in between.
#[derive(Clone, Copy, Debug)]
pub(crate) struct When {
    pub(crate) asked: Instant,
    pub(crate) told: Instant,
}

impl When {
    /// It was asked for at that moment, and has just been answered.
    pub(crate) fn since(asked: Instant) -> Self {
        Self {
            asked,
            told: Instant::now(),
        }
    }
}

/// An execution whose submission was acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Submitted {
    pub(crate) id: ExecutionId,
    pub(crate) when: When,
}

/// A task in the hands of a worker: everything it said under one lease, and what it was told.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) id: ExecutionId,
    pub(crate) taken: When,
    pub(crate) attempt_index: u32,
    pub(crate) lease_epoch: u64,
    /// The signals it was handed, when it goes on after a suspension.
    pub(crate) signals: Vec<SignalId>,
    pub(crate) steps: Vec<Recorded>,
    pub(crate) frames: Vec<Line>,
    pub(crate) usage: Vec<Spent>,
    pub(crate) end: Option<Ended>,
}

/// Steps of one call. Each has its number for a name, and leaves it.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) numbers: Vec<u64>,
    pub(crate) told: Result<(), Code>,
    pub(crate) when: When,
}

/// A frame, which has its number for a payload. Numbers rise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) number: u64,
    pub(crate) told: Result<FrameId, Code>,
    pub(crate) when: When,
}

/// A report to the budget.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    pub(crate) amount: u64,
    pub(crate) told: Result<(), Code>,
    pub(crate) when: When,
}

/// The end of a lease by its worker.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub(crate) how: Ending,
    pub(crate) told: Result<(), Code>,
    pub(crate) when: When,
}

/// How a worker wants to be rid of a task.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ending {
    Complete(serde_json::Value),
    Fail,
    Suspend,
    Release,
}

/// A signal that was accepted.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) id: ExecutionId,
    pub(crate) signal_id: SignalId,
    pub(crate) waitpoint: IssuedWaitpoint,
    pub(crate) when: When,
}

/// Everything that was answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    pub(crate) submitted: Vec<Submitted>,
    pub(crate) runs: Vec<Run>,
    pub(crate) signals: Vec<Sent>,
}

impl Run {
    /// A task that was asked for at that moment, and about which nothing was said yet.
    pub(crate) fn of(task: &Task, asked: Instant) -> Self {
        Self {
            id: task.execution_id,
            taken: When::since(asked),
            attempt_index: task.attempt_index,
            lease_epoch: task.fence.lease_epoch,
            signals: Vec::new(),
            steps: Vec::new(),
            frames: Vec::new(),
            usage: Vec::new(),
            end: None,
        }
    }

    /// The result it acknowledgedly completed its execution with.
    pub(crate) fn completion(&self) -> Option<&serde_json::Value> {
        match &self.end {
            Some(Ended {
                how: Ending::Complete(result),
                told: Ok(()),
                ..
            }) => Some(result),
            _ => None,
        }
    }
}

impl Told {
    pub(super) fn runs_by_execution(&self) -> HashMap<ExecutionId, Vec<Run>> {
        by_execution(&self.runs, |run| (run.id, run.clone()))
    }

    pub(super) fn signals_by_execution(&self) -> HashMap<ExecutionId, Vec<SignalId>> {
        by_execution(&self.signals, |sent| (sent.id, sent.signal_id))
    }
}

fn by_execution<T, U>(list: &[T], part: impl Fn(&T) -> (ExecutionId, U)) -> HashMap<ExecutionId, Vec<U>> {
    let mut parts: HashMap<ExecutionId, Vec<U>> = HashMap::new();
    for (id, part) in list.iter().map(part) {
        parts.entry(id).or_default().push(part);
    }
    parts
}
