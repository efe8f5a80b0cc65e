//! Wake-ups. They make things fast; losing every one of them costs time, never correctness.

use ff_core::id::ExecutionId;
use ff_core::machine::placement::QueueKey;
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::Partition;
use ff_core::record::Cause;
use ff_core::time::Duration;
use ff_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use tokio::sync::broadcast;

/// How far a listener may fall behind before it misses hints.
const BACKLOG_MAX: usize = 4_096;
/// How often a queue that only grows is announced.
const GROWING_INTERVAL: Duration = Duration::from_secs(1);

/// Something may be worth a look.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

/// Collects hints during a call and sends them when it is done; for backends that wake up their own process.
#[derive(Debug)]
pub struct HintBoard {
    sender: broadcast::Sender<Hint>,
    /// In the order they were noted, and each one once.
    noted: Vec<Hint>,
    known: HashSet<Hint>,
    /// When a lane of a partition was last announced.
    announced_at: BTreeMap<(Partition, Namespace, LaneId), Timestamp>,
    /// How often feeds and streams of each partition have grown or ended.
    marks: BTreeMap<Partition, u64>,
}

impl Default for HintBoard {
    fn default() -> Self {
        Self {
            sender: broadcast::Sender::new(BACKLOG_MAX),
            noted: Vec::new(),
            known: HashSet::new(),
            announced_at: BTreeMap::new(),
            marks: BTreeMap::new(),
        }
    }
}

/// A copy has a channel of its own, to which nobody listens yet.
impl Clone for HintBoard {
    fn clone(&self) -> Self {
        Self {
            noted: self.noted.clone(),
            known: self.known.clone(),
            announced_at: self.announced_at.clone(),
            marks: self.marks.clone(),
            ..Self::default()
        }
    }
}

impl HintBoard {
    /// Listens from now on.
    pub fn subscribe(&self) -> HintStream {
        HintStream::new(self.sender.subscribe())
    }

    /// Sends `hint` when the call is done, once however often it is noted.
    pub fn note(&mut self, hint: Hint) {
        if self.known.insert(hint.clone()) {
            self.noted.push(hint);
        }
    }

    /// A queue grew; `opened` says that it was empty before. One that only grows is announced now and then.
    pub fn eligible(&mut self, partition: Partition, queue: &QueueKey, opened: bool, now: Timestamp) {
        let lane = (partition, queue.namespace.clone(), queue.lane.clone());
        let recently = self
            .announced_at
            .get(&lane)
            .is_some_and(|at| now.since(*at) < GROWING_INTERVAL);
        if recently && !opened {
            return;
        }
        self.note(Hint::Eligible {
            partition,
            namespace: lane.1.clone(),
            lane: lane.2.clone(),
        });
        self.announced_at.insert(lane, now);
    }

    /// Sends what was noted. Nobody may be listening; that is fine.
    pub fn send(&mut self) {
        self.known.clear();
        for hint in self.noted.drain(..) {
            let grown = match &hint {
                Hint::Feed { partition } => Some(*partition),
                Hint::Stream { execution_id, .. } => Some(execution_id.partition()),
                _ => None,
            };
            if let Some(partition) = grown {
                *self.marks.entry(partition).or_default() += 1;
            }
            let _ = self.sender.send(hint);
        }
    }

    /// The answer to [`crate::query::Listing::Marks`].
    pub fn marks(&self, partitions: &[Partition]) -> Vec<(Partition, u64)> {
        let mark = |partition: &Partition| (*partition, self.marks.get(partition).copied().unwrap_or(0));
        partitions.iter().map(mark).collect()
    }

    /// Forgets what was noted for a call that came to nothing.
    pub fn forget(&mut self) {
        self.known.clear();
        self.noted.clear();
    }
}
