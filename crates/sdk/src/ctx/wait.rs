//! Waiting for a signal.

use std::marker::PhantomData;
use std::time::Duration;

use ff_core::name::SignalName;
use ff_core::record::{Matcher, ReasonCode, TimeoutBehavior};
use serde::de::DeserializeOwned;

use super::Ctx;
use super::awaited::awaited;
use super::key::Call;
use super::signalled::{Wish, came, fresh, single, waitpoint_key};
use crate::task_error::TaskError;

/// A wait for a signal with a value; await it.
#[must_use = "nobody waits until it is awaited"]
pub struct Wait<T> {
    spec: Spec,
    value: PhantomData<fn() -> T>,
}

/// A wait that may end without a signal; await it.
#[must_use = "nobody waits until it is awaited"]
pub struct WaitUpTo<T> {
    spec: Spec,
    value: PhantomData<fn() -> T>,
}

struct Spec {
    ctx: Ctx,
    call: Call,
    signal: Option<String>,
    timeout: Option<Duration>,
}

impl Ctx {
    /// Goes on when somebody sends a signal to the waitpoint of this name, and gives what it brings. No worker holds the task
    /// meanwhile; the handler starts again from its first line.
    ///
    /// ```
    /// # use ff_sdk::{Ctx, TaskError, days};
    /// # async fn example(ctx: Ctx) -> Result<(), TaskError> {
    /// let paid: u64 = ctx.wait("paid").await?;
    /// let sent: Option<String> = ctx.wait("sent").timeout(days(3)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait<T: DeserializeOwned + Send + 'static>(&self, name: &str) -> Wait<T> {
        Wait {
            spec: Spec {
                ctx: self.clone(),
                call: self.call(name),
                signal: None,
                timeout: None,
            },
            value: PhantomData,
        }
    }
}

impl<T> Wait<T> {
    /// Goes by this key instead of the number of the call.
    pub fn key(mut self, key: impl AsRef<str>) -> Self {
        self.spec.call.by_key(key.as_ref());
        self
    }

    /// Only signals of this name count.
    pub fn signal(mut self, name: impl Into<String>) -> Self {
        self.spec.signal = Some(name.into());
        self
    }

    /// Goes on with `None` when so much time has passed, or when an operator ends the wait.
    pub fn timeout(mut self, time: Duration) -> WaitUpTo<T> {
        self.spec.timeout = Some(time);
        WaitUpTo {
            spec: self.spec,
            value: PhantomData,
        }
    }
}

impl Spec {
    async fn value<T: DeserializeOwned>(self) -> Result<Result<T, TaskError>, TaskError> {
        let Self {
            ctx,
            call,
            signal,
            timeout,
        } = self;
        let key = ctx.wait_key(&call).await?;
        if ctx.is_detached() {
            return ctx.prepared(&key).map(Ok);
        }
        let waitpoint = waitpoint_key(key.as_str())?;
        let signal = signal.map(SignalName::parse).transpose();
        let signal = signal.map_err(|refusal| TaskError::permanent(refusal.to_string()))?;
        let wish = Wish {
            waitpoints: vec![fresh(&waitpoint)],
            condition: single(waitpoint, signal.map_or(Matcher::Any, Matcher::ByName)),
            reason: ReasonCode::WaitingForSignal,
            timeout,
            on_timeout: TimeoutBehavior::AutoResumeWithTimeoutSignal,
        };
        let step = ctx.waited(&key, wish).await?;
        match came(step) {
            Ok(signal) => ctx.brought(&key, signal).await.map(Ok),
            Err(nothing) => Ok(Err(nothing.error(&key))),
        }
    }
}

awaited!(Wait<T> => T, |wait: Wait<T>| async move { wait.spec.value::<T>().await? });

awaited!(WaitUpTo<T> => Option<T>, |wait: WaitUpTo<T>| async move {
    if wait.spec.ctx.is_detached() {
        let key = wait.spec.ctx.wait_key(&wait.spec.call).await?;
        return wait.spec.ctx.prepared(&key);
    }
    // What ended it otherwise is no error to who asked for an Option.
    Ok(wait.spec.value::<T>().await?.ok())
});
