//! Whether a handler may go on with what it asks for.

use ff_core::name::StepKey;

use super::Ctx;
use super::gate::{Pause, Standing};
use super::stop::Stop;
use crate::task_error::TaskError;

impl Ctx {
    /// Never completes once the handler is about to pause; an error once it has ended.
    pub(super) async fn may_go_on(&self) -> Result<(), TaskError> {
        match self.gate().standing()? {
            Standing::Open => Ok(()),
            Standing::Pausing => std::future::pending().await,
        }
    }

    /// Something new is to begin. It does not while the worker shuts down, or once the task is not to go on.
    pub(super) async fn may_begin(&self) {
        let pause = match self.stop_now() {
            None => return,
            Some(Stop::Draining) => Pause::Release,
            Some(Stop::Budget(reason)) => Pause::Cancel(reason),
            Some(Stop::Cancelled | Stop::LeaseLost) => Pause::Abandon,
        };
        self.pause_with::<()>(None, pause).await;
    }

    /// Gives up the task as soon as nothing is under way.
    pub(super) async fn pause_with<T>(&self, key: Option<StepKey>, pause: Pause) -> T {
        self.gate().pause(key, pause);
        std::future::pending().await
    }
}
