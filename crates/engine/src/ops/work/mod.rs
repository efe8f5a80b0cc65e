//! What a lease holder does.
//!
//! | file | what |
//! |---|---|
//! | here | renew, release, update_progress, complete, fail, delay: one rule about one record |
//! | `suspend` | suspend and create_pending_waitpoint, which hand out tokens |
//! | `children` | wait_children, which needs counters |
//! | `usage` | report_usage, which goes on to a budget |
//! | `steps` | record_steps, which goes on to budgets |
//! | `spawn` | spawn_children, which adds members to a flow |
//! | `held` | the execution a call is about, with the steps it names |
//! | `frames` | append_frame, which does not write the execution |

mod children;
mod frames;
mod held;
mod spawn;
mod steps;
mod suspend;
mod usage;

pub(crate) use children::wait_children;
pub(crate) use frames::append_frame;
pub(crate) use held::Held;
pub(crate) use spawn::spawn_children;
pub(crate) use steps::record_steps;
pub(crate) use suspend::{create_pending_waitpoint, suspend};
pub(crate) use usage::{report_usage, settle_outbox};

use ff_core::command::lease::{
    Complete, Completed, DelayUntil, Fail, Failed, LetGo, Release, Renew, Renewed, UpdateProgress,
};
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::machine::{fail, lease};

use crate::engine::Engine;
use crate::ops::flows::end_held;

pub(crate) async fn renew(engine: &Engine, command: On<ExecutionId, Renew>) -> Result<Renewed> {
    engine
        .change_held(command.id, |execution, context| {
            lease::renew(execution, &command.command, context)
        })
        .await
}

pub(crate) async fn release(engine: &Engine, On { id, command }: On<ExecutionId, Release>) -> Result<LetGo> {
    let held = Held::recording(engine, id, &command.steps, None).await?;
    engine
        .change_held(held, |execution, context| lease::release(execution, &command, context))
        .await
}

pub(crate) async fn update_progress(engine: &Engine, command: On<ExecutionId, UpdateProgress>) -> Result<()> {
    engine
        .change_held(command.id, |execution, context| {
            lease::update_progress(execution, &command.command, context)
        })
        .await
}

pub(crate) async fn complete(engine: &Engine, On { id, command }: On<ExecutionId, Complete>) -> Result<Completed> {
    let held = Held::recording(engine, id, &command.steps, None).await?;
    end_held(engine, held, |execution, context| {
        lease::complete(execution, &command, context)
    })
    .await
}

pub(crate) async fn fail(engine: &Engine, On { id, command }: On<ExecutionId, Fail>) -> Result<Failed> {
    let held = Held::recording(engine, id, &command.steps, None).await?;
    end_held(engine, held, |execution, context| {
        fail::fail(execution, &command, context)
    })
    .await
}

pub(crate) async fn delay(engine: &Engine, On { id, command }: On<ExecutionId, DelayUntil>) -> Result<LetGo> {
    let held = Held::recording(engine, id, &command.steps, command.step.as_ref()).await?;
    engine
        .change_held(held, |execution, context| lease::delay(execution, &command, context))
        .await
}
