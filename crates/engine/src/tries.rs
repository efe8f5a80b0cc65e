//! The tries of one operation on one record, committed one by one.

use ff_backend::load::{Load, Snapshot};
use ff_core::fabric::Result;
use ff_core::machine::Step;
use ff_core::record::RecordKey;

use crate::engine::Engine;
use crate::locked::Locked;
use crate::transact::Lost;

/// The tries of one operation on one record, which is locked.
pub(crate) struct Tries<'e, O> {
    locked: Locked<'e>,
    lost: Lost<O>,
}

impl Engine {
    /// Locks `subject` and begins.
    pub(crate) async fn tries<O>(&self, subject: RecordKey) -> Tries<'_, O> {
        Tries {
            locked: self.lock(subject).await,
            lost: Lost::default(),
        }
    }
}

impl<O> Tries<'_, O> {
    /// Reads what the next decision needs.
    pub(crate) async fn read(&mut self, load: Load) -> Result<Snapshot> {
        self.locked.load(load).await
    }

    /// Commits what was decided from `snapshot`. `None`: something has changed, decide again.
    pub(crate) async fn commit(&mut self, snapshot: &Snapshot, step: Step<O>) -> Result<Option<O>> {
        self.locked.commit(&mut self.lost, snapshot, step, None).await
    }
}
