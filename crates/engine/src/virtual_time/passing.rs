//! Letting time pass for workers outside of this process.

use std::time::{Duration, Instant};

use ff_core::error::Rejection;
use ff_core::time::Timestamp;
use ff_core::view::ExecutionView;

use super::VirtualTime;

/// How long until it is looked again whether all is quiet.
const LOOK_AGAIN: Duration = Duration::from_millis(2);
/// How long something may keep time from passing.
const PATIENCE: Duration = Duration::from_secs(10);
/// A task may be between two states at one look, but not at two.
const QUIET_LOOKS: u32 = 2;

/// Why time does not pass.
#[derive(Debug, thiserror::Error)]
pub enum Restless {
    /// Something runs, or could be handed out, and keeps doing so.
    #[error("time cannot pass, because something has been running for {PATIENCE:?}: {}", named(.0))]
    Busy(Vec<ExecutionView>),
    /// The engine does not answer.
    #[error(transparent)]
    Refused(#[from] Rejection),
}

impl VirtualTime {
    /// Does what is due, again and again, until the last clone of this is gone. Runs on the runtime of the caller.
    pub fn keep_pumping(&self) {
        let engine = self.engine.clone();
        let alive = std::sync::Arc::downgrade(&self.jumping);
        tokio::spawn(async move {
            while alive.strong_count() > 0 {
                if let Err(error) = engine.pump_pass().await {
                    tracing::warn!(%error, "what is due could not be done");
                }
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        });
    }

    /// Lets time pass: first everything that can run now does, then time jumps from one due thing to the next, and everything runs
    /// that can then. The time it is now.
    pub async fn advance(&self, by: Duration) -> Result<Timestamp, Restless> {
        let end = self.now() + millis(by);
        self.quiet().await?;
        while let Some(next) = self.next_due().await.filter(|next| *next < end) {
            self.jump_with_workers(next).await?;
            self.quiet().await?;
        }
        self.jump_with_workers(end).await?;
        self.quiet().await?;
        Ok(self.now())
    }

    /// Waits until nothing runs, nothing could be handed to a worker that is registered, and nothing is due.
    pub async fn quiet(&self) -> Result<(), Restless> {
        let (since, mut quiet_looks) = (Instant::now(), 0);
        while quiet_looks < QUIET_LOOKS {
            let is_idle = self.pump().await? == 0;
            let busy = self.busy(self.served_lanes().await?).await?;
            quiet_looks = if is_idle && busy.is_empty() { quiet_looks + 1 } else { 0 };
            if since.elapsed() > PATIENCE {
                return Err(Restless::Busy(busy));
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Ok(())
    }
}

fn millis(duration: Duration) -> ff_core::time::Duration {
    ff_core::time::Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

fn named(busy: &[ExecutionView]) -> String {
    let named = busy.iter().map(|execution| {
        let steps: Vec<&str> = execution.doing.iter().map(|doing| doing.step.as_str()).collect();
        let at = if steps.is_empty() {
            String::new()
        } else {
            format!(" at {}", steps.join(" and "))
        };
        format!("{} ({}{at})", execution.execution_kind, execution.execution_id)
    });
    named.collect::<Vec<_>>().join(", ")
}
