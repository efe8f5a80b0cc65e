//! What a lease holder does.

use async_trait::async_trait;

use super::{On, Result};
use crate::command::budget::Reported;
use crate::command::flow::{WaitChildren, WaitedChildren};
use crate::command::lease::{
    Complete, Completed, DelayUntil, Fail, Failed, LetGo, Release, Renew, Renewed, ReportUsage, UpdateProgress,
};
use crate::command::stream::{AppendFrame, AppendedFrame};
use crate::command::suspend::Suspend;
use crate::command::waitpoint::{CreatePendingWaitpoint, IssuedWaitpoint, SuspendedTask};
use crate::id::ExecutionId;

/// What a lease holder does. Every one of these carries a fence.
#[async_trait]
pub trait Work: Send + Sync {
    /// Keeps the lease.
    async fn renew(&self, command: On<ExecutionId, Renew>) -> Result<Renewed>;

    /// Gives the task back; the same attempt goes on at its next claim.
    async fn release(&self, command: On<ExecutionId, Release>) -> Result<LetGo>;

    /// Says how far the work is.
    async fn update_progress(&self, command: On<ExecutionId, UpdateProgress>) -> Result<()>;

    /// The work is done.
    async fn complete(&self, command: On<ExecutionId, Complete>) -> Result<Completed>;

    /// The attempt failed; the policy decides what follows.
    async fn fail(&self, command: On<ExecutionId, Fail>) -> Result<Failed>;

    /// Goes on later.
    async fn delay(&self, command: On<ExecutionId, DelayUntil>) -> Result<LetGo>;

    /// Goes on when the dependencies hold.
    async fn wait_children(&self, command: On<ExecutionId, WaitChildren>) -> Result<WaitedChildren>;

    /// Goes on when a condition over signals holds.
    async fn suspend(&self, command: On<ExecutionId, Suspend>) -> Result<SuspendedTask>;

    /// Hands out a waitpoint before suspending.
    async fn create_pending_waitpoint(
        &self,
        command: On<ExecutionId, CreatePendingWaitpoint>,
    ) -> Result<IssuedWaitpoint>;

    /// Charges usage to a budget; the answer is the budget's.
    async fn report_usage(&self, command: On<ExecutionId, ReportUsage>) -> Result<Reported>;

    /// Appends one frame to the attempt's output.
    async fn append_frame(&self, command: On<ExecutionId, AppendFrame>) -> Result<AppendedFrame>;
}
