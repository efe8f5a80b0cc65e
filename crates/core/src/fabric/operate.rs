//! What a client or an operator does to executions and lanes.

use async_trait::async_trait;

use super::{On, Result};
use crate::command::flow::{ReplayExecution, Replayed};
use crate::command::lane::SetLaneState;
use crate::command::operator::{
    CancelExecution, Cancelled, ChangePriority, Changed, HoldExecution, RevokeLease, Revoked,
};
use crate::id::ExecutionId;

/// What a client or an operator does to executions and lanes.
#[async_trait]
pub trait Operate: Send + Sync {
    /// Ends an execution from any open state.
    async fn cancel_execution(&self, command: On<ExecutionId, CancelExecution>) -> Result<Cancelled>;

    /// Reopens a terminal execution.
    async fn replay_execution(&self, command: On<ExecutionId, ReplayExecution>) -> Result<Replayed>;

    /// Takes the lease away from its worker.
    async fn revoke_lease(&self, command: On<ExecutionId, RevokeLease>) -> Result<Revoked>;

    /// Moves an open execution in its queue.
    async fn change_priority(&self, command: On<ExecutionId, ChangePriority>) -> Result<Changed>;

    /// Keeps an execution from being handed out.
    async fn hold(&self, command: On<ExecutionId, HoldExecution>) -> Result<Changed>;

    /// Lets a held execution go.
    async fn unhold(&self, id: ExecutionId) -> Result<Changed>;

    /// Says what a lane accepts and hands out; effective everywhere within 2 s.
    async fn set_lane_state(&self, command: SetLaneState) -> Result<Changed>;
}
