//! Letting time pass, from one due thing to the next.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use ff_core::name::LaneId;
use ff_core::time::Timestamp;
use ff_core::view::ExecutionView;

use super::{Inner, TestEngine};
use crate::duration::millis;
use crate::worker::thread;

/// How long until it is looked again whether all is quiet.
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(2);
/// How long something may keep time from passing.
const PATIENCE: Duration = Duration::from_secs(10);
/// A task may be between two states at one look, but not at two.
const QUIET_LOOKS: u32 = 2;

impl TestEngine {
    /// The time it is, as the engine sees it.
    pub fn now(&self) -> Timestamp {
        self.inner.time.now()
    }

    /// Lets time pass: first everything that can run now does, then time jumps from one due thing to the next, and everything runs
    /// that can then.
    ///
    /// # Panics
    ///
    /// When something keeps running for ten seconds of real time: the message names it.
    pub async fn advance(&self, by: Duration) {
        let end = self.now() + millis(by);
        self.quiet().await;
        while let Some(next) = self.inner.time.next_due().await.filter(|next| *next < end) {
            self.inner.time.jump_to(next);
            self.quiet().await;
        }
        self.inner.time.jump_to(end);
        self.quiet().await;
    }

    /// From now on time passes by itself: whenever all is quiet it jumps to the moment at which the next execution is woken, has
    /// waited long enough or expires. It never jumps for what is only kept, or starts again from zero.
    pub fn auto_advance(&self) {
        let inner = Arc::downgrade(&self.inner);
        let Ok(runtime) = thread::runtime() else { return };
        runtime.spawn(async move {
            let mut quiet_looks = 0;
            while let Some(inner) = inner.upgrade() {
                let is_quiet = inner.pump_once().await == 0 && inner.busy().await.is_empty();
                quiet_looks = if is_quiet { quiet_looks + 1 } else { 0 };
                if quiet_looks == QUIET_LOOKS {
                    quiet_looks = 0;
                    inner.jump_to_next_waking().await;
                }
                drop(inner);
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        });
    }

    /// Waits until nothing runs, nothing could be handed out and nothing is due.
    ///
    /// # Panics
    ///
    /// When something keeps running for ten seconds of real time: the message names it.
    pub async fn quiet(&self) {
        let since = Instant::now();
        let mut quiet_looks = 0;
        while quiet_looks < QUIET_LOOKS {
            let is_idle = self.inner.pump_once().await == 0;
            let busy = self.inner.busy().await;
            quiet_looks = if is_idle && busy.is_empty() { quiet_looks + 1 } else { 0 };
            if since.elapsed() > PATIENCE {
                let named: Vec<String> = busy.iter().map(described).collect();
                panic!(
                    "time cannot pass, because something has been running for {PATIENCE:?}: {}",
                    named.join(", ")
                );
            }
            look_again().await;
        }
    }
}

impl Inner {
    async fn pump_once(&self) -> usize {
        self.time.pump().await.unwrap_or_default()
    }

    /// What runs, or could be handed to the worker.
    async fn busy(&self) -> Vec<ExecutionView> {
        self.time.busy(self.lanes()).await.unwrap_or_default()
    }

    fn lanes(&self) -> Vec<LaneId> {
        let worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        worker
            .0
            .as_ref()
            .map_or_else(Vec::new, |worker| worker.lanes().to_vec())
    }

    async fn jump_to_next_waking(&self) {
        if let Ok(Some(next)) = self.time.next_waking().await {
            self.time.jump_to(next);
        }
    }
}

/// A moment of real time, whatever the runtime of the test makes of time.
async fn look_again() {
    if let Ok(runtime) = thread::runtime() {
        let _ = runtime.spawn(tokio::time::sleep(LOOK_AGAIN)).await;
    }
}

fn described(execution: &ExecutionView) -> String {
    let steps: Vec<&str> = execution.doing.iter().map(|doing| doing.step.as_str()).collect();
    let at = if steps.is_empty() {
        String::new()
    } else {
        format!(" at {}", steps.join(" and "))
    };
    format!("{} ({:?}{at})", execution.execution_kind, execution.execution_id)
}
