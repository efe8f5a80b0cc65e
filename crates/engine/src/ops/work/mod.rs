//! What a lease holder does.
//!
//! | file | what |
//! |---|---|
//! | `suspend` | suspend and create_pending_waitpoint, which hand out tokens |
//! | `children` | wait_children, which needs counters |
//! | `usage` | report_usage, which goes on to a budget |
//! | `frames` | append_frame, which does not write the execution |

mod children;
mod frames;
mod suspend;
mod usage;

use async_trait::async_trait;
use ff_backend::load::Snapshot;
use ff_core::command::budget::Reported;
use ff_core::command::flow::{WaitChildren, WaitedChildren};
use ff_core::command::lease::{
    Complete, Completed, DelayUntil, Fail, Failed, LetGo, Release, Renew, Renewed, ReportUsage, UpdateProgress,
};
use ff_core::command::stream::{AppendFrame, AppendedFrame};
use ff_core::command::suspend::Suspend;
use ff_core::command::waitpoint::{CreatePendingWaitpoint, IssuedWaitpoint, SuspendedTask};
use ff_core::fabric::{On, Result, Work};
use ff_core::id::ExecutionId;
use ff_core::machine::{Context, fail, lease};
use ff_core::record::Execution;

use crate::engine::{Engine, as_worker};

#[async_trait]
impl Work for Engine {
    async fn renew(&self, command: On<ExecutionId, Renew>) -> Result<Renewed> {
        self.change_held(command.id, |execution, context| {
            lease::renew(execution, &command.command, context)
        })
        .await
    }

    async fn release(&self, command: On<ExecutionId, Release>) -> Result<LetGo> {
        self.change_held(command.id, |execution, context| {
            lease::release(execution, &command.command, context)
        })
        .await
    }

    async fn update_progress(&self, command: On<ExecutionId, UpdateProgress>) -> Result<()> {
        self.change_held(command.id, |execution, context| {
            lease::update_progress(execution, &command.command, context)
        })
        .await
    }

    async fn complete(&self, command: On<ExecutionId, Complete>) -> Result<Completed> {
        self.end_held(command.id, |execution, context| {
            lease::complete(execution, &command.command, context)
        })
        .await
    }

    async fn fail(&self, command: On<ExecutionId, Fail>) -> Result<Failed> {
        self.end_held(command.id, |execution, context| {
            fail::fail(execution, &command.command, context)
        })
        .await
    }

    async fn delay(&self, command: On<ExecutionId, DelayUntil>) -> Result<LetGo> {
        self.change_held(command.id, |execution, context| {
            lease::delay(execution, &command.command, context)
        })
        .await
    }

    async fn wait_children(&self, command: On<ExecutionId, WaitChildren>) -> Result<WaitedChildren> {
        self.wait_for_children(command.id, &command.command).await
    }

    async fn suspend(&self, command: On<ExecutionId, Suspend>) -> Result<SuspendedTask> {
        self.suspend_task(command.id, &command.command).await
    }

    async fn create_pending_waitpoint(
        &self,
        command: On<ExecutionId, CreatePendingWaitpoint>,
    ) -> Result<IssuedWaitpoint> {
        self.issue_pending_waitpoint(command.id, &command.command).await
    }

    async fn report_usage(&self, command: On<ExecutionId, ReportUsage>) -> Result<Reported> {
        self.charge_usage(command.id, command.command).await
    }

    async fn append_frame(&self, command: On<ExecutionId, AppendFrame>) -> Result<AppendedFrame> {
        self.stream_frame(command.id, command.command).await
    }
}

impl Engine {
    /// The circumstances of a decision of the worker that runs the execution.
    fn worker_context(&self, snapshot: &Snapshot, execution: &Execution) -> Context {
        as_worker(execution, &self.context_of(snapshot, execution))
    }
}
