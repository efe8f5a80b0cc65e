//! A record locked for one operation: its reads, and its patience with others and with the store.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ff_backend::load::{Load, Snapshot};
use ff_backend::tries::Patience;
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::id::ExecutionId;
use ff_core::record::RecordKey;

use crate::engine::Engine;
use crate::record_locks::RecordLock;

/// Conflicts in a row before the caller is told to try again later.
const CONFLICTS_MAX: u32 = 24;
/// Times the store may fail before the caller is told.
const FAILURES_MAX: u32 = 3;
/// The longest pause between two tries.
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// A record nobody else in this process works on until this is dropped.
pub(crate) struct Locked<'e> {
    pub(crate) engine: &'e Engine,
    _lock: RecordLock<'e>,
    /// What the first decision is made from, if that needs no read.
    first: Mutex<Option<Snapshot>>,
    /// `first` is what this process remembers. It is believed for nothing but a commit, which finds out whether it is right.
    remembers: bool,
    /// The decision at hand is made from memory.
    from_memory: AtomicBool,
    conflicts: AtomicU32,
    failures: AtomicU32,
}

impl Engine {
    /// Waits until nobody else in this process works on a record.
    pub(crate) async fn lock(&self, subject: RecordKey) -> Locked<'_> {
        Locked {
            engine: self,
            _lock: self.shared.record_locks.lock(subject).await,
            first: Mutex::default(),
            remembers: false,
            from_memory: AtomicBool::new(false),
            conflicts: AtomicU32::new(0),
            failures: AtomicU32::new(0),
        }
    }

    /// The same for an execution, whose holder's next call needs no read if this process has seen its lease.
    pub(crate) async fn lock_remembered(&self, id: ExecutionId) -> Locked<'_> {
        let locked = self.lock(RecordKey::Execution(id)).await;
        Locked {
            first: Mutex::new(self.cached(id)),
            remembers: true,
            ..locked
        }
    }
}

impl Locked<'_> {
    /// Lets the first decision be made from what was read before, if anything was.
    pub(crate) fn starting_from(self, seen: Option<Snapshot>) -> Self {
        Self {
            first: Mutex::new(seen),
            ..self
        }
    }

    /// What a decision is made from: what is known already, the first time, and what the store has, after that.
    pub(crate) async fn look(&self, load: Load) -> Result<Snapshot> {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        match first {
            Some(snapshot) => {
                self.from_memory.store(self.remembers, Relaxed);
                Ok(snapshot)
            }
            None => self.load(load).await,
        }
    }

    /// Reads from the store, again if it fails for a moment.
    pub(crate) async fn load(&self, load: Load) -> Result<Snapshot> {
        loop {
            match self.engine.store().load(load.clone()).await {
                Ok(snapshot) => return Ok(snapshot),
                Err(error) if error.code != Code::Unavailable || !self.may_fail_again() => return Err(error),
                Err(_) => self.pause_after_failure().await,
            }
        }
    }

    /// Whether the decision at hand is made from memory. The next one is not.
    pub(crate) fn leaves_memory(&self) -> bool {
        self.from_memory.swap(false, Relaxed)
    }

    /// Whether the store may fail once more before the caller is told.
    pub(crate) fn may_fail_again(&self) -> bool {
        self.failures.load(Relaxed) < FAILURES_MAX
    }

    /// Counts a failure, and waits a moment.
    pub(crate) async fn pause_after_failure(&self) {
        let failures = self.failures.fetch_add(1, Relaxed) + 1;
        self.pause(failures + 3).await;
    }

    /// Counts a reply that was lost.
    pub(crate) fn lost_reply(&self) -> Result<()> {
        let failures = self.failures.fetch_add(1, Relaxed) + 1;
        if failures > FAILURES_MAX {
            return Err(Code::Unavailable.because("the reply of the store was lost; it is safe to try again"));
        }
        Ok(())
    }

    /// Counts a conflict, and waits a moment.
    pub(crate) async fn pause_after_conflict(&self) -> Result<()> {
        let conflicts = self.conflicts.fetch_add(1, Relaxed) + 1;
        if conflicts > CONFLICTS_MAX {
            return Err(Code::Contention.because("too many others change the same thing; try again"));
        }
        // The first conflict is usually a stale memory: read again at once.
        if conflicts > 1 {
            self.pause(conflicts - 1).await;
        }
        Ok(())
    }

    async fn pause(&self, tries: u32) {
        let longest = Duration::from_millis(1 << tries.min(8)).min(PAUSE_MAX);
        self.engine.store().pause(longest).await;
    }
}
