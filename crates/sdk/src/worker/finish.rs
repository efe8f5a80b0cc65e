//! What the engine is told when a handler is through with its task.

use ff_core::command::claim::Finish;
use ff_core::command::flow::WaitChildren;
use ff_core::command::lease::{Complete, DelayUntil, Fail, Release};
use ff_core::name::StepKey;
use ff_core::payload::Payload;
use ff_core::time::Timestamp;

use super::attempt::codec_failed;
use super::drive::Drove;
use super::shared::Shared;
use crate::ctx::{Pause, Stop};
use crate::duration::millis;
use crate::handler::Outcome;
use crate::task_error::TaskError;

/// How a task is let go.
pub(super) enum Way {
    Finish(Box<Finish>),
    /// It is not to go on at all.
    Cancel(String),
    /// It is no longer ours.
    Nothing,
}

impl Way {
    pub(super) fn fail(error: TaskError) -> Self {
        let retry_after = error.pause().map(millis);
        let failure = error.into_failure();
        Self::finish(Finish::Fail(Fail {
            fence: None,
            reason: failure.reason,
            category: failure.category,
            retry_after,
            steps: Vec::new(),
        }))
    }

    pub(super) fn delay(until: Timestamp, step: Option<StepKey>) -> Self {
        Self::finish(Finish::Delay(DelayUntil {
            fence: None,
            until,
            steps: Vec::new(),
            step,
        }))
    }

    fn release() -> Self {
        Self::finish(Finish::Release(Release::default()))
    }

    fn finish(finish: Finish) -> Self {
        Self::Finish(Box::new(finish))
    }
}

/// How a task is let go after a run of its handler.
pub(super) async fn way(drove: Drove, shared: &Shared) -> Way {
    match drove {
        Drove::Ended(Ok(outcome)) => done(outcome, shared).await,
        Drove::Ended(Err(error)) => match error.stop() {
            Some(stop) => stopped(stop.clone()),
            None => failed(error),
        },
        Drove::Paused(pause) => paused(pause),
        Drove::Dropped(stop) => stopped(stop),
    }
}

async fn done(outcome: Outcome<Payload>, shared: &Shared) -> Way {
    match outcome {
        Outcome::Done(value) => match shared.codec.encode(value).await {
            Ok(result) => Way::finish(Finish::Complete(Complete {
                result: Some(result),
                ..Complete::default()
            })),
            Err(error) => Way::fail(codec_failed("the result", &error)),
        },
        Outcome::Delay(pause) => Way::delay(shared.clock.now() + millis(pause), None),
        Outcome::Release => Way::release(),
        Outcome::WaitChildren => Way::finish(Finish::WaitChildren(WaitChildren::default())),
        Outcome::Suspend(suspend) => Way::finish(Finish::Suspend(suspend)),
    }
}

fn failed(error: TaskError) -> Way {
    tracing::info!(category = error.category_name(), "the task failed: {error}");
    Way::fail(error)
}

fn paused(pause: Pause) -> Way {
    match pause {
        Pause::Delay { until, step } => Way::delay(until, step),
        Pause::WaitChildren => Way::finish(Finish::WaitChildren(WaitChildren::default())),
        Pause::Suspend(suspend) => Way::finish(Finish::Suspend(suspend)),
        Pause::Release => Way::release(),
        Pause::Cancel(reason) => Way::Cancel(reason),
        Pause::Fail(error) => failed(error),
        Pause::Abandon => Way::Nothing,
    }
}

/// A handler that stopped because it was asked to, or was dropped for it.
fn stopped(stop: Stop) -> Way {
    match stop {
        Stop::Draining => Way::release(),
        Stop::Budget(reason) => Way::Cancel(reason),
        Stop::Cancelled | Stop::LeaseLost => Way::Nothing,
    }
}
