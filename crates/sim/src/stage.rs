//! What everything in one simulated world shares.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::executor::Executor;
use crate::invariants::Watch;
use crate::tally::Tally;
use crate::trace::{Keep, Trace};

/// Time, the trace, the tally and the watch over the invariants. Cheap to clone.
#[derive(Clone)]
pub struct Stage {
    /// Runs everything.
    pub executor: Executor,
    /// What happened.
    pub trace: Arc<Trace>,
    /// Sees every write to the store.
    pub watch: Arc<Watch>,
    tally: Arc<Mutex<Tally>>,
}

impl Stage {
    /// An empty stage.
    pub fn new(executor: Executor, watch: Watch, keep: Keep) -> Self {
        Self {
            trace: Arc::new(Trace::new(executor.clone(), keep)),
            watch: Arc::new(watch),
            tally: Arc::default(),
            executor,
        }
    }

    /// What was counted so far.
    pub fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
