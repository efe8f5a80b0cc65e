//! Being called back: an address is given away before anybody waits at it.

use std::marker::PhantomData;
use std::time::Duration;

use ff_core::command::suspend::WaitpointChoice;
use ff_core::command::waitpoint::CreatePendingWaitpoint;
use ff_core::fabric::{Fabric, On};
use ff_core::id::WaitpointId;
use ff_core::name::StepKey;
use ff_core::record::{Matcher, ReasonCode, TimeoutBehavior};
use futures::future::BoxFuture;
use serde::de::DeserializeOwned;

use super::Ctx;
use super::awaited::awaited;
use super::gate::Pause;
use super::key::Call;
use super::signalled::{NoSignal, Wish, came, single, waitpoint_key};
use crate::duration::{days, millis};
use crate::signal::CallbackHandle;
use crate::task_error::TaskError;
use crate::worker::is_lost;

/// How long an address is good for before anybody waits at it.
const OPEN_FOR: Duration = days(30);

/// An address that is being described; await it.
#[must_use = "nothing is handed out until it is awaited"]
pub struct MakeCallback {
    ctx: Ctx,
    call: Call,
    open_for: Duration,
}

/// An address that was handed out, and the wait at it.
#[derive(Debug)]
#[must_use = "whoever calls back is waited for by wait"]
pub struct Callback {
    ctx: Ctx,
    key: StepKey,
    at: At,
}

#[derive(Debug)]
enum At {
    /// Nobody can be sent there any more: what came stands in the journal.
    Over,
    Open(WaitpointId, CallbackHandle),
}

/// A wait at an address; await it.
#[must_use = "nobody waits until it is awaited"]
pub struct CallbackWait<T> {
    callback: Callback,
    value: PhantomData<fn() -> T>,
}

/// A wait at an address that may end without a call; await it.
#[must_use = "nobody waits until it is awaited"]
pub struct CallbackWaitUpTo<T> {
    callback: Callback,
    timeout: Duration,
    value: PhantomData<fn() -> T>,
}

impl Ctx {
    /// Hands out an address before waiting at it: the same one to every worker that runs this handler, until it was used.
    ///
    /// ```
    /// # use ff_sdk::{CallbackHandle, Ctx, TaskError};
    /// # async fn order(callback: &CallbackHandle) -> Result<(), TaskError> { Ok(()) }
    /// # async fn example(ctx: Ctx) -> Result<(), TaskError> {
    /// let delivered = ctx.callback("delivered").await?;
    /// ctx.step("order", |_| async { order(delivered.handle()?).await }).await?;
    /// let parcel: String = delivered.wait().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn callback(&self, name: &str) -> MakeCallback {
        MakeCallback {
            ctx: self.clone(),
            call: self.call(name),
            open_for: OPEN_FOR,
        }
    }

    /// The waitpoint with this key: one that is open is answered again, with its token.
    async fn waitpoint(&self, key: &StepKey, open_for: Duration) -> Result<At, TaskError> {
        let create = CreatePendingWaitpoint {
            fence: self.run.lease.as_ref().map(|lease| lease.fence),
            waitpoint_key: waitpoint_key(key.as_str())?,
            expires_in: millis(open_for),
            request_id: None,
            waitpoint_id: None,
        };
        let made = self
            .run
            .client
            .create_pending_waitpoint(On::new(self.id(), create))
            .await;
        match made {
            Ok(issued) => Ok(At::Open(issued.waitpoint_id, CallbackHandle::from(&issued))),
            Err(refusal) if is_lost(refusal.code) => self.pause_with(None, Pause::Abandon).await,
            Err(refusal) => Err(refusal.into()),
        }
    }
}

impl MakeCallback {
    /// Goes by this key instead of the number of the call.
    pub fn key(mut self, key: impl AsRef<str>) -> Self {
        self.call.by_key(key.as_ref());
        self
    }

    /// How long it is good for before anybody waits at it; 30 days unless said, and at most.
    pub const fn open_for(mut self, time: Duration) -> Self {
        self.open_for = time;
        self
    }
}

impl IntoFuture for MakeCallback {
    type Output = Result<Callback, TaskError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let Self { ctx, call, open_for } = self;
            let key = ctx.wait_key(&call).await?;
            let at = match ctx.is_detached() || ctx.run.journal.is_done(&key) {
                true => At::Over,
                false => {
                    ctx.may_go_on().await?;
                    ctx.waitpoint(&key, open_for).await?
                }
            };
            // Handing it out is over; what follows until somebody waits is not beside it.
            drop(call);
            Ok(Callback { ctx, key, at })
        })
    }
}

impl Callback {
    /// What to give to whoever is to call back. There is none once it was used, or without an engine; ask for it where it is given
    /// away, inside a step.
    pub fn handle(&self) -> Result<&CallbackHandle, TaskError> {
        let key = &self.key;
        match &self.at {
            At::Open(_, handle) => Ok(handle),
            At::Over => Err(TaskError::permanent(format!(
                "{key} has no address any more: what came is recorded"
            ))),
        }
    }

    /// Waits until somebody calls, and gives what the call brings.
    pub fn wait<T: DeserializeOwned + Send + 'static>(self) -> CallbackWait<T> {
        CallbackWait {
            callback: self,
            value: PhantomData,
        }
    }

    async fn value<T: DeserializeOwned>(&self, timeout: Option<Duration>) -> Result<Result<T, NoSignal>, TaskError> {
        let Self { ctx, key, at } = self;
        let waitpoints = match at {
            At::Open(waitpoint_id, _) => vec![WaitpointChoice::UsePending {
                waitpoint_id: *waitpoint_id,
            }],
            At::Over => Vec::new(),
        };
        let wish = Wish {
            waitpoints,
            condition: single(waitpoint_key(key.as_str())?, Matcher::Any),
            reason: ReasonCode::WaitingForCallback,
            timeout,
            on_timeout: TimeoutBehavior::AutoResumeWithTimeoutSignal,
        };
        let step = ctx.waited(key, wish).await?;
        match came(step) {
            Ok(signal) => ctx.brought(key, signal).await.map(Ok),
            Err(nothing) => Ok(Err(nothing)),
        }
    }
}

impl<T> CallbackWait<T> {
    /// Goes on with `None` when so much time has passed, or when an operator ends the wait.
    pub fn timeout(self, timeout: Duration) -> CallbackWaitUpTo<T> {
        CallbackWaitUpTo {
            callback: self.callback,
            timeout,
            value: PhantomData,
        }
    }
}

awaited!(CallbackWait<T> => T, |wait: CallbackWait<T>| async move {
    let callback = wait.callback;
    if callback.ctx.is_detached() {
        return callback.ctx.prepared(&callback.key);
    }
    callback.value::<T>(None).await?.map_err(|nothing| nothing.error(&callback.key))
});

awaited!(CallbackWaitUpTo<T> => Option<T>, |wait: CallbackWaitUpTo<T>| async move {
    let callback = wait.callback;
    if callback.ctx.is_detached() {
        return callback.ctx.prepared(&callback.key);
    }
    Ok(callback.value::<T>(Some(wait.timeout)).await?.ok())
});
