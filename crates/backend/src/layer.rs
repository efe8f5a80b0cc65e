//! Backends around another one: what a layer does not say for itself is passed on as it is.

use async_trait::async_trait;
use ff_core::ledger::LedgerCall;
use ff_core::time::Timestamp;

use crate::due::{Due, DuePage};
use crate::frames::{Append, AppendError, Appended, FrameRange, Frames};
use crate::hint::HintStream;
use crate::ledger::LedgerReply;
use crate::load::{Load, Snapshot};
use crate::query::{Page, Query};
use crate::reserve::{Reservation, Reserve};
use crate::settings::{SettingsOp, SettingsReply};
use crate::transaction::{CommitError, Committed, Transaction};
use crate::{Backend, Result};

/// A backend around another one. Whoever implements this is a [`Backend`], and overrides the calls it cares about.
#[async_trait]
pub trait Layer: Send + Sync + 'static {
    /// What it is around.
    fn inner(&self) -> &dyn Backend;

    /// See [`Backend::load`].
    async fn load(&self, loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        self.inner().load(loads).await
    }

    /// See [`Backend::commit`].
    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        self.inner().commit(batch).await
    }

    /// See [`Backend::reserve`].
    async fn reserve(&self, ask: Reserve) -> Result<Reservation> {
        self.inner().reserve(ask).await
    }

    /// See [`Backend::due`].
    async fn due(&self, ask: Due) -> Result<DuePage> {
        self.inner().due(ask).await
    }

    /// See [`Backend::list`].
    async fn list(&self, query: Query) -> Result<Page> {
        self.inner().list(query).await
    }

    /// See [`Backend::ledger`].
    async fn ledger(&self, calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>> {
        self.inner().ledger(calls).await
    }

    /// See [`Backend::append`].
    async fn append(&self, batch: Vec<Append>) -> Vec<std::result::Result<Appended, AppendError>> {
        self.inner().append(batch).await
    }

    /// See [`Backend::read`].
    async fn read(&self, range: FrameRange) -> Result<Frames> {
        self.inner().read(range).await
    }

    /// See [`Backend::settings`].
    async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        self.inner().settings(ops).await
    }

    /// See [`Backend::hints`].
    fn hints(&self) -> HintStream {
        self.inner().hints()
    }

    /// See [`Backend::ping`].
    async fn ping(&self) -> Result<Timestamp> {
        self.inner().ping().await
    }
}

#[async_trait]
impl<L: Layer> Backend for L {
    async fn load(&self, loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        Layer::load(self, loads).await
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        Layer::commit(self, batch).await
    }

    async fn reserve(&self, ask: Reserve) -> Result<Reservation> {
        Layer::reserve(self, ask).await
    }

    async fn due(&self, ask: Due) -> Result<DuePage> {
        Layer::due(self, ask).await
    }

    async fn list(&self, query: Query) -> Result<Page> {
        Layer::list(self, query).await
    }

    async fn ledger(&self, calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>> {
        Layer::ledger(self, calls).await
    }

    async fn append(&self, batch: Vec<Append>) -> Vec<std::result::Result<Appended, AppendError>> {
        Layer::append(self, batch).await
    }

    async fn read(&self, range: FrameRange) -> Result<Frames> {
        Layer::read(self, range).await
    }

    async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        Layer::settings(self, ops).await
    }

    fn hints(&self) -> HintStream {
        Layer::hints(self)
    }

    async fn ping(&self) -> Result<Timestamp> {
        Layer::ping(self).await
    }
}
