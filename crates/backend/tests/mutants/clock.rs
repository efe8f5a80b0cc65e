//! Clocks that go wrong.

use std::sync::OnceLock;

use async_trait::async_trait;
use ff_backend::Backend;
use ff_backend::layer::Layer;
use ff_backend::memory::MemoryBackend;
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_core::time::Duration;

use crate::liar::lies;

lies! {
    // A store whose clock nobody moves.
    OnceLock<MemoryBackend>;
    /// Time does not pass.
    ClockStandsStill,
    /// Commits are answered with a time long past.
    TimeGoesBack,
}

#[async_trait]
impl Layer for Liar {
    fn inner(&self) -> &dyn Backend {
        match self.lie {
            Lie::ClockStandsStill => self.seen.get_or_init(|| self.honest.memory.fork()),
            Lie::TimeGoesBack => &*self.honest,
        }
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<Result<Committed, CommitError>> {
        let mut answers = self.inner().commit(batch).await;
        if self.lie == Lie::TimeGoesBack {
            let landed = answers.iter_mut().flatten();
            landed.for_each(|committed| committed.now = committed.now - Duration::from_hours(1));
        }
        answers
    }
}
