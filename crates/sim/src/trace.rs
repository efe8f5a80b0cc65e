//! What happened, line by line: for a person who wants to understand a failing seed.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::executor::Executor;

/// How much of a run is written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Nothing: a failing seed is simply run again.
    #[default]
    Nothing,
    /// The last lines.
    Last(usize),
    /// Everything.
    All,
}

/// The lines of a run.
pub struct Trace {
    executor: Executor,
    keep: Keep,
    lines: Mutex<VecDeque<String>>,
}

impl Trace {
    /// An empty trace of what `executor` runs.
    pub fn new(executor: Executor, keep: Keep) -> Self {
        Self {
            executor,
            keep,
            lines: Mutex::default(),
        }
    }

    /// Writes a line down; it is not even made when nothing is kept.
    pub fn note(&self, line: impl FnOnce() -> String) {
        if self.keep == Keep::Nothing {
            return;
        }
        let at = self.executor.elapsed().as_secs_f64();
        let line = format!("{at:>12.6}  {}", line());
        let mut lines = self.lines();
        lines.push_back(line);
        if let Keep::Last(most) = self.keep
            && lines.len() > most
        {
            lines.pop_front();
        }
    }

    /// Takes what was written.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines()).into()
    }

    fn lines(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
