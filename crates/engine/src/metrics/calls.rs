//! Calls to the store: how long they took, and what went wrong.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use ff_backend::Error;
use ff_backend::transaction::CommitError;

use super::histogram::{CALL_RANGES, Histogram};
use super::tally::add;

macro_rules! calls {
    ($($variant:ident $name:literal),+ $(,)?) => {
        /// A call of the storage contract.
        #[derive(Clone, Copy)]
        pub(crate) enum StoreCall { $($variant,)+ }

        /// Their names, in the same order.
        pub(super) const CALLS: &[&str] = &[$($name,)+];
    };
}

calls! {
    Load "load", Commit "commit", Reserve "reserve", Due "due", List "list", Ledger "ledger",
    Append "append", Read "read", Settings "settings", Ping "ping",
}

/// What a failure is called.
pub(super) const FAILURES: [&str; 3] = ["unavailable", "unknown", "corrupt"];
/// Why a commit was refused.
pub(super) const CONFLICTS: [&str; 4] = ["conflict", "too_late", "other_generation", "too_many_queues"];

/// Calls to the store.
pub(crate) struct StoreCalls {
    /// By call.
    pub(super) took: Vec<Histogram>,
    /// By call, then by kind.
    pub(super) failures: Vec<[AtomicU64; FAILURES.len()]>,
    pub(super) conflicts: [AtomicU64; CONFLICTS.len()],
}

impl Default for StoreCalls {
    fn default() -> Self {
        Self {
            took: CALLS.iter().map(|_| Histogram::new(CALL_RANGES)).collect(),
            failures: CALLS.iter().map(|_| Default::default()).collect(),
            conflicts: Default::default(),
        }
    }
}

impl StoreCalls {
    /// A call was answered.
    pub(crate) fn answered(&self, call: StoreCall, took: Duration) {
        self.took[call as usize].observe(took);
    }

    /// An answer, or part of one, is that the store failed. A cursor the caller made up is no failure of the store.
    pub(crate) fn failed(&self, call: StoreCall, error: &Error) {
        let kind = match error {
            Error::Unavailable(_) => 0,
            Error::Unknown(_) => 1,
            Error::Corrupt(_) => 2,
            Error::InvalidCursor | Error::CursorExpired { .. } => return,
        };
        add(&self.failures[call as usize][kind], 1);
    }

    /// A commit was not made.
    pub(crate) fn not_committed(&self, error: &CommitError) {
        let reason = match error {
            CommitError::Conflict { .. } => 0,
            CommitError::TooLate { .. } => 1,
            CommitError::OtherGeneration => 2,
            CommitError::TooManyQueues => 3,
            CommitError::Store(error) => return self.failed(StoreCall::Commit, error),
            CommitError::Malformed(_) => return,
        };
        add(&self.conflicts[reason], 1);
    }
}
