//! Signals, waitpoints, approvals and the keys that sign for them.

use async_trait::async_trait;

use super::{On, Result};
use crate::command::page::{Page, PageRequest};
use crate::command::signal::{Approval, Decide, Delivered, ListApprovals, ResumeExecution, ResumeOutcome, SendSignal};
use crate::command::waitpoint::OpenWaitpoint;
use crate::id::{ExecutionId, WaitpointId};
use crate::keyring::{RotateWaitpointSecret, Rotated};
use crate::token::WaitpointToken;
use crate::view::SignalView;

/// Signals, waitpoints, approvals and the keys that sign for them.
#[async_trait]
pub trait Signals: Send + Sync {
    /// Delivers an event to a waitpoint, authenticated by the waitpoint's token.
    async fn deliver_signal(&self, command: On<ExecutionId, SendSignal>) -> Result<Delivered>;

    /// Signals an execution has accepted, by id.
    async fn list_signals(&self, request: On<ExecutionId, PageRequest>) -> Result<Page<SignalView>>;

    /// Resumes a suspended execution whatever its condition says.
    async fn resume_execution(&self, command: On<ExecutionId, ResumeExecution>) -> Result<ResumeOutcome>;

    /// Waitpoints of an execution that take signals now; never with their tokens.
    async fn list_pending_waitpoints(&self, id: ExecutionId) -> Result<Vec<OpenWaitpoint>>;

    /// The token of an open waitpoint, minted under the current key. For privileged callers.
    async fn read_waitpoint_token(&self, request: On<ExecutionId, WaitpointId>) -> Result<WaitpointToken>;

    /// A person's yes or no at a waitpoint: approve, reject.
    async fn decide(&self, command: On<ExecutionId, Decide>) -> Result<Delivered>;

    /// Everything that waits for a person, what was escalated first.
    async fn approvals(&self, request: ListApprovals) -> Result<Page<Approval>>;

    /// Makes a new key sign from now on.
    async fn rotate_waitpoint_secret(&self, command: RotateWaitpointSecret) -> Result<Rotated>;
}
