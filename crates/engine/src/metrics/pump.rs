//! What the pump did, and how late.

use std::sync::atomic::AtomicU64;
use std::time::Duration as HostDuration;

use ff_core::fabric::Result;
use ff_core::time::Duration;

use super::histogram::{Histogram, WAIT_RANGES};
use super::tally::add;
use crate::pump::Duty;

/// What came of a duty.
#[derive(Clone, Copy)]
pub(crate) enum DutyOutcome {
    /// It is done, or as much of it as is done at once.
    Done,
    /// Not ready yet.
    Later,
    /// It failed.
    Failed,
}

impl DutyOutcome {
    /// Every one, with its name.
    pub(super) const ALL: [(DutyOutcome, &str); 3] = [
        (DutyOutcome::Done, "done"),
        (DutyOutcome::Later, "later"),
        (DutyOutcome::Failed, "failed"),
    ];
}

/// What the pump did.
pub(crate) struct PumpCounts {
    pub(super) lag: Histogram,
    /// By duty, then by outcome.
    pub(super) duties: Vec<[AtomicU64; DutyOutcome::ALL.len()]>,
}

impl Default for PumpCounts {
    fn default() -> Self {
        Self {
            lag: Histogram::new(WAIT_RANGES),
            duties: Duty::ALL.iter().map(|_| Default::default()).collect(),
        }
    }
}

impl PumpCounts {
    /// Something is taken up that has been due for this long.
    pub(crate) fn taken_up(&self, overdue: Duration) {
        self.lag.observe(HostDuration::from_millis(overdue.as_millis()));
    }

    /// A duty was served.
    pub(crate) fn served<T>(&self, duty: Duty, result: &Result<T>, is_later: impl Fn(&T) -> bool) {
        let outcome = match result {
            Ok(progress) if is_later(progress) => DutyOutcome::Later,
            Ok(_) => DutyOutcome::Done,
            Err(_) => DutyOutcome::Failed,
        };
        add(&self.duties[duty as usize][outcome as usize], 1);
    }
}
