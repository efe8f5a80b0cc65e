//! Wake-ups. They make things fast; losing every one of them costs time, never correctness.

use ff_core::id::ExecutionId;
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::Partition;
use ff_core::record::Cause;
use ff_core::time::Timestamp;
use tokio::sync::broadcast;

/// Something may be worth a look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// A queue of this lane became non-empty, or keeps growing.
    Eligible {
        /// Where.
        partition: Partition,
        /// The tenant.
        namespace: Namespace,
        /// The lane.
        lane: LaneId,
    },
    /// Something in this partition is due earlier than anything before.
    Due {
        /// Where.
        partition: Partition,
        /// When.
        at: Timestamp,
    },
    /// A stream grew or ended.
    Stream {
        /// Of which execution.
        execution_id: ExecutionId,
        /// Of which attempt.
        attempt_index: u32,
    },
    /// The partition's feed grew.
    Feed {
        /// Where.
        partition: Partition,
    },
    /// A budget or quota has a new generation.
    Cause(Cause),
    /// A setting changed.
    Setting(String),
    /// Hints were lost: look at everything.
    Missed,
}

/// Hints as they come.
#[derive(Debug)]
pub struct HintStream(broadcast::Receiver<Hint>);

impl HintStream {
    /// Listens to a channel of hints.
    pub fn new(receiver: broadcast::Receiver<Hint>) -> Self {
        Self(receiver)
    }

    /// The next hint; `None` when the store is gone.
    pub async fn next(&mut self) -> Option<Hint> {
        match self.0.recv().await {
            Ok(hint) => Some(hint),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(Hint::Missed),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }

    /// A hint that is already there.
    pub fn try_next(&mut self) -> Option<Hint> {
        match self.0.try_recv() {
            Ok(hint) => Some(hint),
            Err(broadcast::error::TryRecvError::Lagged(_)) => Some(Hint::Missed),
            Err(broadcast::error::TryRecvError::Empty | broadcast::error::TryRecvError::Closed) => None,
        }
    }
}
