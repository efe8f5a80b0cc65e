//! Sleeps: long ones take no worker.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use ff_core::record::{StepKind, StepState};
use futures::future::BoxFuture;

use super::Ctx;
use super::gate::Pause;
use super::key::Call;
use crate::duration::millis;
use crate::task_error::TaskError;

/// Sleeps up to this long are slept in place, where they cost less than giving the task back.
const IN_PLACE_MAX: Duration = Duration::from_secs(5);

/// A sleep; await it.
#[must_use = "nobody sleeps until it is awaited"]
pub struct Sleep {
    asked: Option<(Ctx, Call, Duration)>,
    sleeping: Option<BoxFuture<'static, Result<(), TaskError>>>,
}

impl Ctx {
    /// Goes on when so much time has passed. A long sleep gives the task back: no worker holds it, and the handler starts again
    /// from its first line when it is over.
    pub fn sleep(&self, name: &str, time: Duration) -> Sleep {
        Sleep {
            asked: Some((self.clone(), self.call(name), time)),
            sleeping: None,
        }
    }

    async fn slept(&self, call: Call, time: Duration) -> Result<(), TaskError> {
        self.nested(&call).map_or(Ok(()), Err)?;
        let key = call.key()?;
        self.gate().standing()?;
        let until = match self.run.journal.call(&key, StepKind::Sleep)? {
            Some(step) if step.state == StepState::Done => step.until.unwrap_or_default(),
            Some(_) | None if self.is_detached() => return Ok(()),
            Some(_) | None if time <= IN_PLACE_MAX && self.run.sleeps_in_place => {
                tokio::time::sleep(time).await;
                return self.may_go_on().await;
            }
            Some(_) | None => self.now() + millis(time),
        };
        if until.has_come(self.now()) {
            return self.may_go_on().await;
        }
        let delay = Pause::Delay {
            until,
            step: Some(key.clone()),
        };
        self.pause_with(Some(key), delay).await
    }
}

impl Sleep {
    /// Goes by this key instead of the number of the call.
    pub fn key(mut self, key: impl AsRef<str>) -> Self {
        if let Some((_, call, _)) = &mut self.asked {
            call.by_key(key.as_ref());
        }
        self
    }
}

impl Future for Sleep {
    type Output = Result<(), TaskError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some((ctx, call, time)) = self.asked.take() {
            self.sleeping = Some(Box::pin(async move { ctx.slept(call, time).await }));
        }
        match &mut self.sleeping {
            Some(sleeping) => sleeping.as_mut().poll(context),
            None => Poll::Pending,
        }
    }
}
