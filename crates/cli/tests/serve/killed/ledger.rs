//! What the clients were told.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff_core::error::Code;
use ff_core::frame::FrameId;
use ff_core::id::{BudgetId, ExecutionId, QuotaPolicyId, SignalId};

/// A task in the hands of a worker: everything it said under one lease, and what it was told.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) id: ExecutionId,
    pub(crate) attempt_index: u32,
    pub(crate) lease_epoch: u64,
    /// The signals it was handed, when it goes on after a suspension.
    pub(crate) signals: Vec<SignalId>,
    pub(crate) frames: Vec<Line>,
    pub(crate) usage: Vec<Spent>,
    pub(crate) end: Option<(Ending, Result<(), Code>)>,
}

/// A frame, which has its number for a payload. Numbers rise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) number: u64,
    pub(crate) told: Result<FrameId, Code>,
}

/// A report to the budget.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    pub(crate) amount: u64,
    pub(crate) told: Result<(), Code>,
}

/// How a worker wants to be rid of a task.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ending {
    Complete(serde_json::Value),
    Fail,
    Suspend,
    Release,
}

/// Everything that was answered.
pub(crate) struct Ledger {
    /// What all usage is reported to.
    pub(crate) budget_id: BudgetId,
    /// What all leases count against, if anything.
    pub(crate) quota_policy_id: Option<QuotaPolicyId>,
    submitted: Mutex<Vec<ExecutionId>>,
    runs: Mutex<Vec<Run>>,
    signals: Mutex<HashMap<ExecutionId, Vec<SignalId>>>,
    /// Answers nobody should get.
    oddities: Mutex<Vec<String>>,
    completed: AtomicU64,
    answers: AtomicU64,
    /// Answers to what had been done before: nobody heard of it then.
    repeated: AtomicU64,
    numbers: AtomicU64,
    submitters_stop: AtomicBool,
    workers_stop: AtomicBool,
}

impl Ledger {
    pub(crate) fn new(budget_id: BudgetId) -> Self {
        Self {
            budget_id,
            quota_policy_id: None,
            submitted: Mutex::default(),
            runs: Mutex::default(),
            signals: Mutex::default(),
            oddities: Mutex::default(),
            completed: AtomicU64::new(0),
            answers: AtomicU64::new(0),
            repeated: AtomicU64::new(0),
            numbers: AtomicU64::new(0),
            submitters_stop: AtomicBool::new(false),
            workers_stop: AtomicBool::new(false),
        }
    }

    /// A number nobody has.
    pub(crate) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn note_answer(&self) {
        self.answers.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn answers(&self) -> u64 {
        self.answers.load(Ordering::Relaxed)
    }

    pub(crate) fn note_repeated(&self) {
        self.repeated.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn repeated(&self) -> u64 {
        self.repeated.load(Ordering::Relaxed)
    }

    pub(crate) fn note_submitted(&self, id: ExecutionId) {
        locked(&self.submitted).push(id);
        self.note_answer();
    }

    pub(crate) fn note_run(&self, run: Run) {
        if matches!(run.end, Some((Ending::Complete(_), Ok(())))) {
            self.completed.fetch_add(1, Ordering::Relaxed);
        }
        locked(&self.runs).push(run);
    }

    pub(crate) fn note_signal(&self, id: ExecutionId, signal_id: SignalId) {
        locked(&self.signals).entry(id).or_default().push(signal_id);
        self.note_answer();
    }

    pub(crate) fn note_oddity(&self, what: &str, about: impl Display) {
        locked(&self.oddities).push(format!("{what}: {about}"));
    }

    /// How many executions wait or run, about.
    pub(crate) fn open(&self) -> u64 {
        let submitted = locked(&self.submitted).len() as u64;
        submitted.saturating_sub(self.completed.load(Ordering::Relaxed))
    }

    pub(crate) fn submitted(&self) -> Vec<ExecutionId> {
        locked(&self.submitted).clone()
    }

    pub(crate) fn runs(&self) -> HashMap<ExecutionId, Vec<Run>> {
        let mut by_execution: HashMap<ExecutionId, Vec<Run>> = HashMap::new();
        for run in locked(&self.runs).iter() {
            by_execution.entry(run.id).or_default().push(run.clone());
        }
        by_execution
    }

    pub(crate) fn signals(&self) -> HashMap<ExecutionId, Vec<SignalId>> {
        locked(&self.signals).clone()
    }

    pub(crate) fn oddities(&self) -> Vec<String> {
        locked(&self.oddities).clone()
    }

    pub(crate) fn stop_submitting(&self) {
        self.submitters_stop.store(true, Ordering::Relaxed);
    }

    pub(crate) fn submitters_stop(&self) -> bool {
        self.submitters_stop.load(Ordering::Relaxed)
    }

    pub(crate) fn stop_working(&self) {
        self.workers_stop.store(true, Ordering::Relaxed);
    }

    pub(crate) fn workers_stop(&self) -> bool {
        self.workers_stop.load(Ordering::Relaxed)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
