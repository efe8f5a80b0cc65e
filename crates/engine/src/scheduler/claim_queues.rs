//! All claim queues of the process.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_core::fabric::Result;
use ff_core::name::{LaneId, Namespace};

use super::claim_queue::{ClaimQueue, ClaimQueueKey, Next, Served};
use super::waiting_claim::{ClaimRequest, WaitingClaim};
use crate::fault::shutting_down;

/// Queues kept before those with no claim in them are removed.
const QUEUES_MAX: usize = 1_024;

/// Who waits for what. Claims that want the same share a queue.
#[derive(Default)]
pub(crate) struct ClaimQueues {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    queues: BTreeMap<Arc<ClaimQueueKey>, ClaimQueue>,
    by_lane: BTreeMap<(Namespace, LaneId), BTreeSet<Arc<ClaimQueueKey>>>,
    last_claim_id: u64,
    closed: bool,
}

/// A claim that is in its queue now.
pub(super) struct Joined<'q> {
    pub(super) claim: WaitingClaim<'q>,
    /// The queue needs another loop that serves it, counted already: the caller starts it.
    pub(super) needs_another_loop: Option<Arc<ClaimQueueKey>>,
}

impl ClaimQueues {
    /// Something may have become eligible in a lane.
    pub(crate) fn wake(&self, namespace: &Namespace, lane: &LaneId) {
        let inner = self.inner();
        let keys = inner.by_lane.get(&(namespace.clone(), lane.clone()));
        for queue in keys.into_iter().flatten().filter_map(|key| inner.queues.get(key)) {
            queue.wake_up.wake();
        }
    }

    /// Something may have become eligible anywhere.
    pub(crate) fn wake_all(&self) {
        let mut inner = self.inner();
        inner.remove_idle();
        inner.queues.values().for_each(|queue| queue.wake_up.wake());
    }

    /// Answers every waiting claim with nothing, and refuses new ones. A round under way is still answered.
    pub(crate) fn close(&self) {
        let mut inner = self.inner();
        inner.closed = true;
        for queue in inner.queues.values_mut() {
            queue.answer_all();
            queue.wake_up.wake();
        }
    }

    /// Refuses when the process is shutting down.
    pub(super) fn check_open(&self) -> Result<()> {
        self.inner().check_open()
    }

    /// Puts a claim into the queue of `key`.
    pub(super) fn join(&self, key: ClaimQueueKey, request: ClaimRequest, patient: bool) -> Result<Joined<'_>> {
        let mut inner = self.inner();
        inner.check_open()?;
        let key = inner.queue_for(key);
        inner.last_claim_id += 1;
        let (queued, claim) = WaitingClaim::new(self, Arc::clone(&key), inner.last_claim_id, request, patient);
        let mut needs_another_loop = None;
        if let Some(queue) = inner.queues.get_mut(&key) {
            queue.join(queued);
            if queue.needs_another_loop() {
                needs_another_loop = Some(key);
            }
        }
        Ok(Joined {
            claim,
            needs_another_loop,
        })
    }

    /// Takes a claim out of its queue; `false`: it is being served or was answered.
    pub(super) fn leave(&self, key: &Arc<ClaimQueueKey>, id: u64) -> bool {
        let mut inner = self.inner();
        let Some(queue) = inner.queues.get_mut(key) else {
            return false;
        };
        let left = queue.leave(id);
        if left {
            // The last claim that leaves lets the serving loop end.
            queue.wake_up.queue_changed();
        }
        left
    }

    /// What a loop that serves a queue does next.
    pub(super) fn next(&self, key: &Arc<ClaimQueueKey>, now: Duration) -> Next {
        match self.inner().queues.get_mut(key) {
            Some(queue) => queue.next(now),
            None => Next::End,
        }
    }

    /// A round of a queue is over.
    pub(super) fn finish_round(&self, key: &Arc<ClaimQueueKey>, served: Served, now: Duration) {
        let mut inner = self.inner();
        let closed = inner.closed;
        if let Some(queue) = inner.queues.get_mut(key) {
            queue.finish_round(served, now);
            if closed {
                queue.answer_all();
            }
        }
    }

    /// A loop that served a queue went down.
    pub(super) fn loop_failed(&self, key: &Arc<ClaimQueueKey>, in_round: bool) {
        if let Some(queue) = self.inner().queues.get_mut(key) {
            queue.loop_failed(in_round);
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn check_open(&self) -> Result<()> {
        if self.closed {
            return Err(shutting_down());
        }
        Ok(())
    }

    /// The shared key of the queue for `key`, which is made if there is none.
    fn queue_for(&mut self, key: ClaimQueueKey) -> Arc<ClaimQueueKey> {
        if let Some((key, _)) = self.queues.get_key_value(&key) {
            return Arc::clone(key);
        }
        if self.queues.len() >= QUEUES_MAX {
            self.remove_idle();
        }
        let key = Arc::new(key);
        for lane in &key.lanes {
            let lane = (key.namespace.clone(), lane.clone());
            self.by_lane.entry(lane).or_default().insert(Arc::clone(&key));
        }
        self.queues.insert(Arc::clone(&key), ClaimQueue::default());
        key
    }

    /// Removes queues nobody waits in; all that is lost is what their last round found.
    fn remove_idle(&mut self) {
        let idle = self.queues.iter().filter(|(_, queue)| queue.is_idle());
        let idle: Vec<Arc<ClaimQueueKey>> = idle.map(|(key, _)| Arc::clone(key)).collect();
        idle.iter().for_each(|key| self.remove(key));
    }

    fn remove(&mut self, key: &Arc<ClaimQueueKey>) {
        self.queues.remove(key);
        for lane in &key.lanes {
            let lane = (key.namespace.clone(), lane.clone());
            if let Some(queues) = self.by_lane.get_mut(&lane) {
                queues.remove(key);
                if queues.is_empty() {
                    self.by_lane.remove(&lane);
                }
            }
        }
    }
}
