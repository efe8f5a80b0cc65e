//! What the engine asks of the process it runs in. A simulation answers with its own time and its own luck.

use std::time::{Duration, Instant};

use futures::future::BoxFuture;

/// Time, luck and background work.
pub trait Host: Send + Sync + 'static {
    /// Time since some start; it never goes back.
    fn elapsed(&self) -> Duration;

    /// Completes when this much time has passed.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// Random bits nobody can guess: lease ids are made of them.
    fn random(&self) -> u128;

    /// Runs a task beside the caller.
    fn spawn(&self, task: BoxFuture<'static, ()>);
}

/// A process with a tokio runtime.
#[derive(Debug)]
pub struct TokioHost {
    started: Instant,
}

impl TokioHost {
    /// The process this is called in.
    pub fn new() -> Self {
        Self {
            started: Instant::now(),
        }
    }
}

impl Default for TokioHost {
    fn default() -> Self {
        Self::new()
    }
}

impl Host for TokioHost {
    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }

    fn random(&self) -> u128 {
        rand::random()
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        tokio::spawn(task);
    }
}
