//! Drives a handler until it has ended, pauses, or had its time.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use futures::future::BoxFuture;

use super::lease::Lease;
use crate::ctx::{Ctx, Pause, Stop};
use crate::handler::Ending;
use crate::task_error::TaskError;

/// How a run of a handler came to its end.
pub(super) enum Drove {
    Ended(Ending),
    Paused(Pause),
    /// It was told to stop and did not.
    Dropped(Stop),
}

/// Drives `handler` and drops it before this returns. After that its [`Ctx`] answers nothing.
pub(super) async fn drive(handler: BoxFuture<'static, Ending>, ctx: &Ctx, lease: &Lease) -> Drove {
    let mut halt = lease.halt();
    let mut handler = AssertUnwindSafe(handler).catch_unwind();
    let drove = tokio::select! {
        biased;
        ended = &mut handler => Drove::Ended(ended.unwrap_or_else(|panic| Err(TaskError::panicked(message(&*panic))))),
        () = ctx.gate().pause_is_due() => Drove::Paused(Pause::Abandon),
        stop = time_is_over(&mut halt) => Drove::Dropped(stop),
    };
    drop(handler);
    let (left, pause) = ctx.gate().close();
    if !left.is_empty() {
        tracing::warn!(steps = ?left, "the handler ended before its steps: what they have done is not recorded");
    }
    match (pause, drove) {
        // Once it is about to pause, what a handler returns says nothing: it was not answered any more.
        (Some(pause), Drove::Ended(_) | Drove::Paused(_)) => Drove::Paused(pause),
        (_, drove) => drove,
    }
}

/// Completes when a handler that was told to stop has had its time.
async fn time_is_over(halt: &mut tokio::sync::watch::Receiver<Option<crate::ctx::Halt>>) -> Stop {
    let is_over = |halt: &Option<crate::ctx::Halt>| halt.as_ref().is_some_and(|halt| halt.drop_now);
    match halt.wait_for(is_over).await.as_deref() {
        Ok(Some(halt)) => halt.stop.clone(),
        Ok(None) | Err(_) => Stop::LeaseLost,
    }
}

/// What a panic said.
pub(super) fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("it said nothing")
}
