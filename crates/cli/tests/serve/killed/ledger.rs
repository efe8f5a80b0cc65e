//! Where clients note what they were told.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use ff_core::id::{BudgetId, ExecutionId, QuotaPolicyId};

use super::told::{Run, Sent, Submitted, Told, When};

/// Everything that was answered.
pub(crate) struct Ledger {
    /// What all usage is reported to.
    pub(crate) budget_id: BudgetId,
    /// What all leases count against, if anything.
    pub(crate) quota_policy_id: Option<QuotaPolicyId>,
    told: Mutex<Told>,
    /// Answers nobody should get.
    oddities: Mutex<Vec<String>>,
    /// When the server was gone whose store was replaced by an older copy.
    restored: OnceLock<Instant>,
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
            told: Mutex::default(),
            oddities: Mutex::default(),
            restored: OnceLock::new(),
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

    pub(crate) fn note_submitted(&self, id: ExecutionId, when: When) {
        locked(&self.told).submitted.push(Submitted { id, when });
        self.note_answer();
    }

    pub(crate) fn note_run(&self, run: Run) {
        if run.completion().is_some() {
            self.completed.fetch_add(1, Ordering::Relaxed);
        }
        locked(&self.told).runs.push(run);
    }

    pub(crate) fn note_signal(&self, sent: Sent) {
        locked(&self.told).signals.push(sent);
        self.note_answer();
    }

    pub(crate) fn note_oddity(&self, what: &str, about: impl Display) {
        locked(&self.oddities).push(format!("{what}: {about}"));
    }

    /// From here on an older copy of the store answers. Nobody knows how much of it is open.
    pub(crate) fn note_restored(&self) {
        let submitted = locked(&self.told).submitted.len() as u64;
        self.completed.store(submitted, Ordering::Relaxed);
        let before = self.restored.set(Instant::now());
        assert!(before.is_ok(), "it was restored before");
    }

    /// Whether the store may have forgotten what was asked for at that moment.
    pub(crate) fn may_be_forgotten(&self, asked: Instant) -> bool {
        self.restored.get().is_some_and(|restored| asked < *restored)
    }

    /// How many executions wait or run, about.
    pub(crate) fn open(&self) -> u64 {
        let submitted = locked(&self.told).submitted.len() as u64;
        submitted.saturating_sub(self.completed.load(Ordering::Relaxed))
    }

    /// Everything so far.
    pub(crate) fn told(&self) -> Told {
        locked(&self.told).clone()
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
