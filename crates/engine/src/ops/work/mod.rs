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

use ff_backend::load::Snapshot;
use ff_core::command::budget::Reported;
use ff_core::command::flow::{WaitChildren, WaitedChildren};
use ff_core::command::lease::{
    Complete, Completed, DelayUntil, Fail, Failed, LetGo, Release, Renew, Renewed, ReportUsage, UpdateProgress,
};
use ff_core::command::stream::{AppendFrame, AppendedFrame};
use ff_core::command::suspend::Suspend;
use ff_core::command::waitpoint::{CreatePendingWaitpoint, IssuedWaitpoint, SuspendedTask};
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::machine::{Context, fail, lease};
use ff_core::record::Execution;

use crate::engine::{Engine, as_worker};

pub(crate) async fn renew(engine: &Engine, command: On<ExecutionId, Renew>) -> Result<Renewed> {
    engine
        .change_held(command.id, |execution, context| {
            lease::renew(execution, &command.command, context)
        })
        .await
}

pub(crate) async fn release(engine: &Engine, command: On<ExecutionId, Release>) -> Result<LetGo> {
    engine
        .change_held(command.id, |execution, context| {
            lease::release(execution, &command.command, context)
        })
        .await
}

pub(crate) async fn update_progress(engine: &Engine, command: On<ExecutionId, UpdateProgress>) -> Result<()> {
    engine
        .change_held(command.id, |execution, context| {
            lease::update_progress(execution, &command.command, context)
        })
        .await
}

pub(crate) async fn complete(engine: &Engine, command: On<ExecutionId, Complete>) -> Result<Completed> {
    engine
        .end_held(command.id, |execution, context| {
            lease::complete(execution, &command.command, context)
        })
        .await
}

pub(crate) async fn fail(engine: &Engine, command: On<ExecutionId, Fail>) -> Result<Failed> {
    engine
        .end_held(command.id, |execution, context| {
            fail::fail(execution, &command.command, context)
        })
        .await
}

pub(crate) async fn delay(engine: &Engine, command: On<ExecutionId, DelayUntil>) -> Result<LetGo> {
    engine
        .change_held(command.id, |execution, context| {
            lease::delay(execution, &command.command, context)
        })
        .await
}

pub(crate) async fn wait_children(engine: &Engine, command: On<ExecutionId, WaitChildren>) -> Result<WaitedChildren> {
    engine.wait_for_children(command.id, &command.command).await
}

pub(crate) async fn suspend(engine: &Engine, command: On<ExecutionId, Suspend>) -> Result<SuspendedTask> {
    engine.suspend_task(command.id, &command.command).await
}

pub(crate) async fn create_pending_waitpoint(
    engine: &Engine,
    command: On<ExecutionId, CreatePendingWaitpoint>,
) -> Result<IssuedWaitpoint> {
    engine.issue_pending_waitpoint(command.id, &command.command).await
}

pub(crate) async fn report_usage(engine: &Engine, command: On<ExecutionId, ReportUsage>) -> Result<Reported> {
    engine.charge_usage(command.id, command.command).await
}

pub(crate) async fn append_frame(engine: &Engine, command: On<ExecutionId, AppendFrame>) -> Result<AppendedFrame> {
    engine.stream_frame(command.id, command.command).await
}

impl Engine {
    /// The circumstances of a decision of the worker that runs the execution.
    fn worker_context(&self, snapshot: &Snapshot, execution: &Execution) -> Context {
        as_worker(execution, &self.context_of(snapshot, execution))
    }
}
