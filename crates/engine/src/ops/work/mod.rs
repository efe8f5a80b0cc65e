//! What a lease holder does.
//!
//! | file | what |
//! |---|---|
//! | here | renew, release, update_progress, complete, fail, delay: one rule about one record |
//! | `suspend` | suspend and create_pending_waitpoint, which hand out tokens |
//! | `children` | wait_children, which needs counters |
//! | `usage` | report_usage, which goes on to a budget |
//! | `steps` | record_steps, which finds names that are taken |
//! | `frames` | append_frame, which does not write the execution |

mod children;
mod frames;
mod steps;
mod suspend;
mod usage;

pub(crate) use children::wait_children;
pub(crate) use frames::append_frame;
pub(crate) use steps::record_steps;
pub(crate) use suspend::{create_pending_waitpoint, suspend};
pub(crate) use usage::{report_usage, settle_outbox};

use ff_backend::load::Snapshot;
use ff_core::command::lease::{
    Complete, Completed, DelayUntil, Fail, Failed, LetGo, Release, Renew, Renewed, UpdateProgress,
};
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::machine::{Context, fail, lease};
use ff_core::record::Execution;

use crate::engine::{Engine, as_worker};
use crate::ops::flows::end_held;

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
    end_held(engine, command.id, |execution, context| {
        lease::complete(execution, &command.command, context)
    })
    .await
}

pub(crate) async fn fail(engine: &Engine, command: On<ExecutionId, Fail>) -> Result<Failed> {
    end_held(engine, command.id, |execution, context| {
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

/// The circumstances of a decision of the worker that runs the execution.
fn worker_context(engine: &Engine, snapshot: &Snapshot, execution: &Execution) -> Context {
    as_worker(execution, &engine.context_of(snapshot, execution))
}
