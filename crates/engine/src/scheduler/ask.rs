//! One claim at a desk: what it wants, and the caller who waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ff_core::command::claim::Task;
use ff_core::fabric::Result;
use ff_core::name::{WorkerId, WorkerInstanceId};
use futures::future::{Either, select};
use tokio::sync::oneshot;

use super::desk::DeskKey;
use super::desks::Desks;
use crate::fault::internal;
use crate::host::Host;

/// What a claim is answered.
pub(super) type Answer = Result<Vec<Task>>;

/// Who asks, and for how much.
#[derive(Clone)]
pub(super) struct Asker {
    pub(super) worker: WorkerId,
    pub(super) instance: WorkerInstanceId,
    /// At most this many tasks, at least one.
    pub(super) max: usize,
    /// How long the leases last between renewals.
    pub(super) lease_ttl: ff_core::time::Duration,
}

/// A claim as its desk sees it.
pub(super) struct Ask {
    pub(super) id: u64,
    pub(super) asker: Asker,
    patient: Arc<AtomicBool>,
    answer: oneshot::Sender<Answer>,
}

impl Ask {
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

/// A claim as its caller sees it; leaves the line when dropped.
pub(super) struct Place<'d> {
    desks: &'d Desks,
    desk: Arc<DeskKey>,
    id: u64,
    patient: Arc<AtomicBool>,
    answer: oneshot::Receiver<Answer>,
}

impl<'d> Place<'d> {
    /// Both sides of a new claim.
    pub(super) fn take(desks: &'d Desks, desk: Arc<DeskKey>, id: u64, asker: Asker, patient: bool) -> (Ask, Place<'d>) {
        let (sender, receiver) = oneshot::channel();
        let patient = Arc::new(AtomicBool::new(patient));
        let ask = Ask {
            id,
            asker,
            patient: Arc::clone(&patient),
            answer: sender,
        };
        let place = Place {
            desks,
            desk,
            id,
            patient,
            answer: receiver,
        };
        (ask, place)
    }

    /// Waits for the answer, and for a first task at most `wait`.
    pub(super) async fn answer(mut self, host: &dyn Host, wait: Duration) -> Answer {
        if wait > Duration::ZERO {
            match select(&mut self.answer, host.sleep(wait)).await {
                Either::Left((answer, _)) => return answer.unwrap_or_else(|_| unanswered()),
                Either::Right(_) => self.patient.store(false, Ordering::SeqCst),
            }
            if self.desks.leave(&self.desk, self.id) {
                return Ok(Vec::new());
            }
            // It is being served right now: whatever comes of that is taken, because it may be leased already.
        }
        (&mut self.answer).await.unwrap_or_else(|_| unanswered())
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.desks.leave(&self.desk, self.id);
    }
}

fn unanswered() -> Answer {
    Err(internal("a desk went away without answering its line"))
}
