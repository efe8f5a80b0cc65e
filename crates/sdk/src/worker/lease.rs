//! A task's way to its worker's loop, which alone talks to the engine about leases.

use std::sync::{Arc, Mutex, PoisonError};

use ff_core::command::claim::{Finish, FinishedOutcome};
use ff_core::command::lease::Holder;
use ff_core::command::steps::{ProgressNote, RecordedSteps, StepReport};
use ff_core::command::stream::{AppendFrame, AppendedFrame};
use ff_core::error::{Code, Rejection};
use ff_core::fabric::Result;
use ff_core::id::ExecutionId;
use ff_core::record::{Fence, StepUnderWay};
use tokio::sync::{mpsc, oneshot, watch};

use super::output::{OutputRoom, Unsent};
use crate::ctx::Halt;

/// Where the answer to something goes.
pub(crate) type Answer<T> = oneshot::Sender<Result<T>>;

/// What a task says to the loop.
pub(crate) struct Said {
    /// The loop's number of the lease.
    pub(crate) lease: u64,
    pub(crate) word: Word,
}

pub(crate) enum Word {
    /// A step is to be recorded.
    Step(Box<StepReport>, Answer<RecordedSteps>),
    /// Output.
    Frame(Box<Unsent>, Answer<AppendedFrame>),
    /// Output waits for no more of it.
    Flush,
    /// How far the work is, instead of what was said before.
    Progress(ProgressNote),
    /// The task is let go.
    Finish(Box<Finish>, Answer<FinishedOutcome>),
    /// Nobody runs the task any more.
    Gone,
}

/// The steps a task is at, for whoever looks at it.
pub(crate) type Doing = Arc<Mutex<Vec<StepUnderWay>>>;

/// A lease as its task has it.
#[derive(Clone)]
pub(crate) struct Lease {
    pub(crate) execution_id: ExecutionId,
    pub(crate) fence: Fence,
    pub(super) number: u64,
    pub(super) to_loop: mpsc::UnboundedSender<Said>,
    pub(super) halt: watch::Receiver<Option<Halt>>,
    pub(super) doing: Doing,
    pub(super) output_room: OutputRoom,
}

impl Lease {
    /// Proof that its holder runs the execution.
    pub(crate) const fn holder(&self) -> Holder {
        Holder {
            execution_id: self.execution_id,
            fence: self.fence,
        }
    }

    /// Records a step, together with whatever else of this task waits to be recorded.
    pub(crate) async fn record(&self, step: StepReport) -> Result<RecordedSteps> {
        self.ask(|answer| Word::Step(Box::new(step), answer)).await
    }

    /// Appends a frame after those before it, as soon as there is room; what is answered tells when it has arrived.
    pub(crate) async fn append(&self, frame: AppendFrame) -> oneshot::Receiver<Result<AppendedFrame>> {
        let unsent = self.output_room.enter(frame).await;
        self.say(|answer| Word::Frame(Box::new(unsent), answer))
    }

    /// Sends output that waits for more of it.
    pub(crate) fn flush(&self) {
        self.tell(Word::Flush);
    }

    /// Says how far the work is, with the next step or a little later.
    pub(crate) fn progress(&self, note: ProgressNote) {
        self.tell(Word::Progress(note));
    }

    /// Lets the task go.
    pub(crate) async fn finish(&self, finish: Finish) -> Result<FinishedOutcome> {
        self.ask(|answer| Word::Finish(Box::new(finish), answer)).await
    }

    /// What the loop says about stopping.
    pub(crate) fn halt(&self) -> watch::Receiver<Option<Halt>> {
        self.halt.clone()
    }

    /// Notes what the task is at, to be told with the next renewal.
    pub(crate) fn note_doing(&self, change: impl FnOnce(&mut Vec<StepUnderWay>)) {
        change(&mut self.doing.lock().unwrap_or_else(PoisonError::into_inner));
    }

    async fn ask<T>(&self, word: impl FnOnce(Answer<T>) -> Word) -> Result<T> {
        // Without a loop nobody keeps the lease.
        self.say(word).await.map_err(|_| over())?
    }

    fn say<T>(&self, word: impl FnOnce(Answer<T>) -> Word) -> oneshot::Receiver<Result<T>> {
        let (answer, answered) = oneshot::channel();
        self.tell(word(answer));
        answered
    }

    fn tell(&self, word: Word) {
        let lease = self.number;
        // A loop that has ended drops what it is told, and with it the sender of the answer.
        let _ = self.to_loop.send(Said { lease, word });
    }
}

/// Tells the loop that nobody runs the task any more, whichever way that came.
pub(super) struct GoneOnDrop(pub(super) Lease);

impl Drop for GoneOnDrop {
    fn drop(&mut self) {
        self.0.tell(Word::Gone);
    }
}

/// What is told where the worker itself knows that a lease is over.
pub(crate) fn over() -> Rejection {
    Code::LeaseExpired.because("the lease is over by this worker's clock; somebody else may run the task")
}

/// Whether a refusal says that the lease is gone.
pub(crate) const fn is_lost(code: Code) -> bool {
    matches!(
        code,
        Code::StaleLease
            | Code::LeaseExpired
            | Code::LeaseRevoked
            | Code::NoActiveLease
            | Code::ExecutionNotActive
            | Code::ExecutionNotFound
            | Code::StaleOwnerCannotAppend
    )
}
