//! The store's clock follows virtual time, and may jump ahead of it.

use std::sync::{Arc, Mutex, PoisonError};

use ff_backend::memory::MemoryBackend;
use ff_core::time::Duration;

use crate::executor::Executor;

/// Moves the clock of a store in memory.
#[derive(Clone)]
pub struct StoreClock {
    memory: Arc<MemoryBackend>,
    /// Virtual time the store has been told of, in whole milliseconds.
    told: Arc<Mutex<u64>>,
}

impl StoreClock {
    /// Lets the store's time pass with that of `executor`.
    pub fn follow(executor: &Executor, memory: Arc<MemoryBackend>) -> Self {
        let clock = Self {
            memory,
            told: Arc::default(),
        };
        let follower = clock.clone();
        executor.on_time(move |elapsed| follower.catch_up(elapsed));
        clock
    }

    fn catch_up(&self, elapsed: std::time::Duration) {
        let now = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        self.memory.advance(Duration::from_millis(now.saturating_sub(*told)));
        *told = now;
    }

    /// The store as it is now.
    pub fn mark(&self) -> MemoryBackend {
        self.memory.fork()
    }

    /// Puts the store back to the mark. Its clock goes on: nothing written from now on bears the time of what was lost.
    pub fn go_back(&self, mark: &MemoryBackend) {
        self.memory.restore(mark);
        self.memory.advance(Duration::from_millis(1));
    }

    /// The store's clock jumps forward; nobody else's does.
    pub fn jump(&self, by: Duration) {
        self.memory.advance(by);
    }
}
