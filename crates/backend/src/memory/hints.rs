//! Wake-ups, collected during a call and sent when it is done.

use std::collections::BTreeMap;

use ff_core::machine::placement::QueueKey;
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::Partition;
use ff_core::time::{Duration, Timestamp};
use tokio::sync::broadcast;

use super::flaw::Flaw;
use super::store::Store;
use crate::hint::Hint;

/// How far a listener may fall behind before it misses hints.
const BACKLOG_MAX: usize = 4_096;
/// How often a queue that only grows is announced.
const GROWING_INTERVAL: Duration = Duration::from_secs(1);

/// Hints on their way out.
pub(super) struct Hints {
    sender: broadcast::Sender<Hint>,
    noted: Vec<Hint>,
    /// When a lane of a partition was last announced.
    announced_at: BTreeMap<(Partition, Namespace, LaneId), Timestamp>,
}

impl Hints {
    pub(super) fn new() -> Self {
        Self {
            sender: broadcast::Sender::new(BACKLOG_MAX),
            noted: Vec::new(),
            announced_at: BTreeMap::new(),
        }
    }

    /// Listens from now on.
    pub(super) fn subscribe(&self) -> broadcast::Receiver<Hint> {
        self.sender.subscribe()
    }

    /// Sends `hint` when the call is done, once however often it is noted.
    pub(super) fn note(&mut self, hint: Hint) {
        if !self.noted.contains(&hint) {
            self.noted.push(hint);
        }
    }

    /// A queue grew; `opened` says that it was empty before.
    pub(super) fn eligible(&mut self, partition: Partition, queue: &QueueKey, opened: bool, now: Timestamp) {
        let (namespace, lane) = (queue.namespace.clone(), queue.lane.clone());
        let announced_at = self.announced_at.get_mut(&(partition, namespace.clone(), lane.clone()));
        let recently = announced_at
            .as_ref()
            .is_some_and(|at| now.since(**at) < GROWING_INTERVAL);
        if recently && !opened {
            return;
        }
        match announced_at {
            Some(at) => *at = now,
            None => {
                self.announced_at
                    .insert((partition, namespace.clone(), lane.clone()), now);
            }
        }
        self.note(Hint::Eligible {
            partition,
            namespace,
            lane,
        });
    }
}

impl Store {
    /// Sends what was noted. Nobody may be listening; that is fine.
    pub(super) fn send_hints(&mut self) {
        let silent = self.flawed(Flaw::HintsNeverSent);
        for hint in self.hints.noted.drain(..).filter(|_| !silent) {
            let _ = self.hints.sender.send(hint);
        }
    }
}
