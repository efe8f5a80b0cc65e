//! Executions whose lease was last seen live by this process: their holder's next call needs no read.
//!
//! What is remembered may be out of date. A commit against it then conflicts, and everything is read again; so it is never
//! believed for anything but a commit.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff_backend::load::Snapshot;
use ff_backend::transaction::Version;
use ff_core::id::ExecutionId;
use ff_core::record::{Execution, Gate, Record, RecordKey};
use ff_core::time::Timestamp;

/// Leases remembered at the same time; those that end first are forgotten first.
const LEASES_MAX: usize = 65_536;

/// An execution as it was last seen, with all a commit on it must know.
#[derive(Clone)]
pub(crate) struct VersionedExecution {
    pub(crate) execution: Execution,
    pub(crate) version: Version,
    pub(crate) gate: Option<(Gate, Version)>,
}

/// Leased executions by id.
#[derive(Default)]
pub(crate) struct LeaseCache {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    leased: HashMap<ExecutionId, VersionedExecution>,
    by_end: BTreeSet<(Timestamp, ExecutionId)>,
}

impl VersionedExecution {
    /// The snapshot of its partition this stands for.
    pub(crate) fn snapshot(&self, now: Timestamp) -> Snapshot {
        let id = self.execution.id;
        let mut snapshot = Snapshot::empty(id.partition(), now);
        let record = Record::from(self.execution.clone());
        snapshot
            .records
            .insert(RecordKey::Execution(id), (record, self.version));
        if let Some((gate, version)) = &self.gate {
            let key = RecordKey::Gate(gate.flow_id);
            snapshot.records.insert(key, (Record::from(gate.clone()), *version));
        }
        snapshot
    }

    fn ends_at(&self) -> Option<Timestamp> {
        self.execution.lease().map(|lease| lease.expires_at)
    }
}

impl LeaseCache {
    /// What is remembered of an execution.
    pub(crate) fn get(&self, id: ExecutionId) -> Option<VersionedExecution> {
        self.inner().leased.get(&id).cloned()
    }

    /// Remembers an execution as it stands now; one without a lease is forgotten.
    pub(crate) fn keep(&self, leased: VersionedExecution) {
        let mut inner = self.inner();
        let id = leased.execution.id;
        inner.forget(id);
        let Some(ends_at) = leased.ends_at() else { return };
        inner.by_end.insert((ends_at, id));
        inner.leased.insert(id, leased);
        if inner.leased.len() > LEASES_MAX
            && let Some((_, first)) = inner.by_end.first().copied()
        {
            inner.forget(first);
        }
    }

    /// Forgets an execution.
    pub(crate) fn forget(&self, id: ExecutionId) {
        self.inner().forget(id);
    }

    /// Forgets leases that ended before `now`.
    pub(crate) fn forget_ended(&self, now: Timestamp) {
        let mut inner = self.inner();
        while let Some((_, id)) = inner.by_end.first().copied().filter(|(at, _)| at.has_come(now)) {
            inner.forget(id);
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn forget(&mut self, id: ExecutionId) {
        if let Some(ends_at) = self.leased.remove(&id).and_then(|leased| leased.ends_at()) {
            self.by_end.remove(&(ends_at, id));
        }
    }
}
