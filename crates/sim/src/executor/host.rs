//! The executor as an engine's host.

use std::time::Duration;

use ff_engine::Host;
use futures::future::BoxFuture;

use super::{Executor, ProcessId};
use crate::luck::Luck;

/// One process of the simulation: virtual time, luck from the seed, tasks that die with it.
#[derive(Clone)]
pub struct SimHost {
    executor: Executor,
    process: ProcessId,
    luck: Luck,
}

impl SimHost {
    /// The host of `process`.
    pub fn new(executor: Executor, process: ProcessId, luck: Luck) -> Self {
        Self {
            executor,
            process,
            luck,
        }
    }
}

impl Host for SimHost {
    fn elapsed(&self) -> Duration {
        self.executor.elapsed()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.executor.sleep(duration)
    }

    fn random(&self) -> u128 {
        self.luck.bits()
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.executor.spawn(self.process, task);
    }
}
