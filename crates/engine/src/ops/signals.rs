//! Signals, waitpoints, approvals and the keys that sign for them.

mod approvals;
mod deliver;

use async_trait::async_trait;
use ff_backend::load::Load;
use ff_backend::query::{Cursor, Listing};
use ff_core::command::page::{Page, PageRequest};
use ff_core::command::signal::{
    Approval, Decide, Delivered, ListApprovals, ResumeExecution, ResumeOutcome, SendSignal,
};
use ff_core::command::waitpoint::OpenWaitpoint;
use ff_core::error::Code;
use ff_core::fabric::{On, Result, Signals};
use ff_core::id::{ExecutionId, WaitpointId};
use ff_core::keyring::{RotateWaitpointSecret, Rotated};
use ff_core::machine::{resume, waitpoint};
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, RecordKey, Signal};
use ff_core::token::WaitpointToken;
use ff_core::view::SignalView;

use crate::engine::{Engine, no_execution};

/// Payloads of one page of signals; at least one signal is handed out.
const PAGE_BYTES_MAX: u64 = 4 * 1024 * 1024;

#[async_trait]
impl Signals for Engine {
    async fn deliver_signal(&self, command: On<ExecutionId, SendSignal>) -> Result<Delivered> {
        self.deliver(command.id, &command.command).await
    }

    async fn list_signals(&self, request: On<ExecutionId, PageRequest>) -> Result<Page<SignalView>> {
        let On { id, command: page } = request;
        let limit = page.limit()?;
        self.visible(&self.read_execution(id).await?, id)?;
        let scope = format!("signals/{id}");
        let after = self.open_cursor(&page, &scope).await?;
        let (signals, next) = self.signals_that_fit(id, after, limit).await?;
        Ok(Page {
            items: self.with_payloads(id, signals).await?,
            next: self.sign_cursor(next, &scope).await?,
        })
    }

    async fn resume_execution(&self, command: On<ExecutionId, ResumeExecution>) -> Result<ResumeOutcome> {
        let On { id, command } = command;
        self.change(id, |execution, context| {
            resume::resume_execution(execution, &command, context)
        })
        .await
    }

    async fn list_pending_waitpoints(&self, id: ExecutionId) -> Result<Vec<OpenWaitpoint>> {
        let snapshot = self.read_execution(id).await?;
        let execution = self.visible(&snapshot, id)?;
        let ring = self.key_ring().await?;
        Ok(waitpoint::list_open(execution, ring.current_kid(), snapshot.now))
    }

    async fn read_waitpoint_token(&self, request: On<ExecutionId, WaitpointId>) -> Result<WaitpointToken> {
        let On { id, command } = request;
        self.check_id(id)?;
        let key = RecordKey::Waitpoint(id, command);
        let load = Load::records(id.partition(), [RecordKey::Execution(id), key.clone()]);
        let snapshot = self.store().load(load).await?;
        let execution = self.visible(&snapshot, id)?;
        let found = waitpoint::known(snapshot.waitpoint(&key))?;
        waitpoint::read_token(found, execution, &*self.key_ring().await?, snapshot.now)
    }

    async fn decide(&self, command: On<ExecutionId, Decide>) -> Result<Delivered> {
        self.deliver_decision(command.id, &command.command).await
    }

    async fn approvals(&self, request: ListApprovals) -> Result<Page<Approval>> {
        self.page_of_approvals(request).await
    }

    async fn rotate_waitpoint_secret(&self, command: RotateWaitpointSecret) -> Result<Rotated> {
        if self.caller.namespace.is_some() {
            return Err(
                Code::Forbidden.because("the signing keys belong to every namespace; this key reaches only one")
            );
        }
        self.rotate_keys(&command).await
    }
}

impl Engine {
    /// A page of signals that is not too large with their payloads, and where it goes on. Only a store knows its cursors,
    /// so a page that is too large is asked for again with as many as fit.
    async fn signals_that_fit(
        &self,
        id: ExecutionId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<(Vec<Signal>, Option<Cursor>)> {
        let mut limit = limit;
        loop {
            let mut page = self.store().list(Listing::Signals(id), after.clone(), limit).await?;
            let next = page.next.take();
            let signals = page.signals();
            let fitting = fitting(&signals);
            if fitting == signals.len() {
                return Ok((signals, next));
            }
            limit = fitting;
        }
    }

    async fn with_payloads(&self, id: ExecutionId, signals: Vec<Signal>) -> Result<Vec<SignalView>> {
        let key = |signal: &Signal| BlobKey::Signal(id, signal.id);
        let load = Load::records(id.partition(), []).with_blobs(signals.iter().map(key));
        let mut snapshot = self.store().load(load).await?;
        let view = |signal: Signal| {
            let payload = match snapshot.blobs.remove(&key(&signal)) {
                Some(payload) => payload,
                // The engine's own signals bring nothing.
                None if signal.payload_bytes == 0 => Payload::default(),
                // It was there a moment ago: the execution is being deleted.
                None => return Err(no_execution(id)),
            };
            Ok(SignalView { signal, payload })
        };
        signals.into_iter().map(view).collect()
    }
}

/// How many of these fit into one page, at least one of those there are.
fn fitting(signals: &[Signal]) -> usize {
    let mut bytes = 0;
    let fits = |signal: &&Signal| {
        bytes += signal.payload_bytes;
        bytes <= PAGE_BYTES_MAX
    };
    signals.iter().take_while(fits).count().max(1).min(signals.len())
}
