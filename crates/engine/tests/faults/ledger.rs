//! What the clients were told, by their own clocks.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ff_core::error::{Code, Rejection};
use ff_core::id::ExecutionId;
use ff_core::record::Fence;

use crate::luck::Luck;
use crate::window::Span;

/// A task in the hands of a worker.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) id: ExecutionId,
    pub(crate) fence: Fence,
    pub(crate) claimed: Span,
    /// The last renewal that was acknowledged.
    pub(crate) renewed: Option<Span>,
    /// Until when its worker may believe to be the only one; the lease may last longer.
    pub(crate) believed_until: Instant,
    pub(crate) end: Option<End>,
}

impl Run {
    /// Whether what was asked in this time may have been done before this run began.
    pub(crate) fn was_claimed_since(&self, asked: Span) -> bool {
        asked.asked_at <= self.claimed.answered_at
    }
}

/// How a worker was rid of a task.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    Completed(Span),
    GivenBack(Span),
    /// It gave the task back and was told that the task is not its own. The store may have heard it, lost its answer and handed
    /// the task on before it was asked again.
    PerhapsGivenBack(Code, Span),
    /// It was told that the task is not its own.
    Refused(Code, Span),
}

/// Names a run in the ledger.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunNumber(usize);

/// Everything that was acknowledged.
#[derive(Default)]
pub(crate) struct Ledger {
    submitted: Mutex<Vec<(ExecutionId, Span)>>,
    runs: Mutex<Vec<Run>>,
    /// Reads that did not find what was submitted.
    missed: Mutex<Vec<(ExecutionId, Span)>>,
    /// Answers nobody should get.
    oddities: Mutex<Vec<String>>,
    pub(crate) retries: AtomicU64,
    pub(crate) reads: AtomicU64,
    /// Completions, to know how much is open.
    completed: AtomicU64,
    pub(crate) writers_stop: AtomicBool,
    pub(crate) workers_stop: AtomicBool,
}

impl Ledger {
    pub(crate) fn note_submitted(&self, id: ExecutionId, span: Span) {
        locked(&self.submitted).push((id, span));
    }

    pub(crate) fn note_claimed(&self, run: Run) -> RunNumber {
        let mut runs = locked(&self.runs);
        runs.push(run);
        RunNumber(runs.len() - 1)
    }

    pub(crate) fn note_renewed(&self, run: RunNumber, span: Span, believed_until: Instant) {
        let run = &mut locked(&self.runs)[run.0];
        (run.renewed, run.believed_until) = (Some(span), believed_until);
    }

    pub(crate) fn note_end(&self, run: RunNumber, end: End) {
        if matches!(end, End::Completed(_)) {
            self.completed.fetch_add(1, Ordering::Relaxed);
        }
        locked(&self.runs)[run.0].end = Some(end);
    }

    pub(crate) fn note_missed(&self, id: ExecutionId, span: Span) {
        locked(&self.missed).push((id, span));
    }

    pub(crate) fn note_oddity(&self, what: &str, id: Option<ExecutionId>, rejection: &Rejection) {
        locked(&self.oddities).push(format!("{what} {id:?}: {rejection}"));
    }

    /// How many executions wait or run, about.
    pub(crate) fn open(&self) -> u64 {
        let submitted = locked(&self.submitted).len() as u64;
        submitted.saturating_sub(self.completed.load(Ordering::Relaxed))
    }

    pub(crate) fn submitted(&self) -> Vec<(ExecutionId, Span)> {
        locked(&self.submitted).clone()
    }

    /// One of those that were submitted, if any was.
    pub(crate) fn any_submitted(&self, luck: &mut Luck) -> Option<ExecutionId> {
        let submitted = locked(&self.submitted);
        if submitted.is_empty() {
            return None;
        }
        let (id, _) = &submitted[luck.below(submitted.len())];
        Some(*id)
    }

    /// All runs by execution, in the order their claims were answered.
    pub(crate) fn runs(&self) -> HashMap<ExecutionId, Vec<Run>> {
        let mut by_execution: HashMap<ExecutionId, Vec<Run>> = HashMap::new();
        for run in locked(&self.runs).iter() {
            by_execution.entry(run.id).or_default().push(run.clone());
        }
        for runs in by_execution.values_mut() {
            runs.sort_by_key(|run| run.claimed.answered_at);
        }
        by_execution
    }

    pub(crate) fn missed(&self) -> Vec<(ExecutionId, Span)> {
        locked(&self.missed).clone()
    }

    pub(crate) fn oddities(&self) -> Vec<String> {
        locked(&self.oddities).clone()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
