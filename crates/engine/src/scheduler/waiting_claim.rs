//! One claim in its queue: what it wants, and the caller who waits for it.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ff_core::command::claim::Task;
use ff_core::fabric::Result;
use ff_core::name::{WorkerId, WorkerInstanceId};
use futures::future::{Either, select};
use tokio::sync::oneshot;

use super::claim_queue::ClaimQueueKey;
use super::claim_queues::ClaimQueues;
use crate::fault::internal;
use crate::host::Host;

pub(super) type Answer = Result<Vec<Task>>;

/// Who claims, and how much.
#[derive(Clone)]
pub(super) struct ClaimRequest {
    pub(super) worker: WorkerId,
    pub(super) instance: WorkerInstanceId,
    /// At most this many tasks, at least one.
    pub(super) max: usize,
    /// How long the leases last between renewals.
    pub(super) lease_ttl: ff_core::time::Duration,
}

/// A claim as its queue sees it.
pub(super) struct QueuedClaim {
    pub(super) id: u64,
    pub(super) request: ClaimRequest,
    patient: Arc<AtomicBool>,
    answer: oneshot::Sender<Answer>,
}

impl QueuedClaim {
    /// Whether nobody waits for the answer any more.
    pub(super) fn is_gone(&self) -> bool {
        self.answer.is_closed()
    }

    /// Whether the caller would rather wait than get nothing.
    pub(super) fn is_patient(&self) -> bool {
        self.patient.load(Ordering::SeqCst)
    }

    /// Answers. A caller that went away gets nothing; what was leased for it comes back when its short first lease ends.
    pub(super) fn answer(self, answer: Answer) {
        let _ = self.answer.send(answer);
    }
}

/// A claim as its caller sees it; leaves the queue when dropped.
pub(super) struct WaitingClaim<'q> {
    queues: &'q ClaimQueues,
    queue: Arc<ClaimQueueKey>,
    id: u64,
    patient: Arc<AtomicBool>,
    answer: oneshot::Receiver<Answer>,
}

impl<'q> WaitingClaim<'q> {
    /// Both sides of a new claim.
    pub(super) fn new(
        queues: &'q ClaimQueues,
        queue: Arc<ClaimQueueKey>,
        id: u64,
        request: ClaimRequest,
        patient: bool,
    ) -> (QueuedClaim, WaitingClaim<'q>) {
        let (sender, receiver) = oneshot::channel();
        let patient = Arc::new(AtomicBool::new(patient));
        let queued = QueuedClaim {
            id,
            request,
            patient: Arc::clone(&patient),
            answer: sender,
        };
        let waiting = WaitingClaim {
            queues,
            queue,
            id,
            patient,
            answer: receiver,
        };
        (queued, waiting)
    }

    /// Waits for the answer, and for a first task at most `wait` and not beyond `hurry`.
    pub(super) async fn answer(mut self, host: &dyn Host, wait: Duration, hurry: impl Future<Output = ()>) -> Answer {
        if wait > Duration::ZERO {
            match select(&mut self.answer, select(host.sleep(wait), pin!(hurry))).await {
                Either::Left((answer, _)) => return answer.unwrap_or_else(|_| unanswered()),
                Either::Right(_) => self.patient.store(false, Ordering::SeqCst),
            }
            if self.queues.leave(&self.queue, self.id) {
                return Ok(Vec::new());
            }
            // It is being served right now: whatever comes of that is taken, because it may be leased already.
        }
        (&mut self.answer).await.unwrap_or_else(|_| unanswered())
    }
}

impl Drop for WaitingClaim<'_> {
    fn drop(&mut self) {
        self.queues.leave(&self.queue, self.id);
    }
}

fn unanswered() -> Answer {
    Err(internal("a claim queue went away without answering its claims"))
}
