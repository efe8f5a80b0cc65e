//! A lease as the loop has it, with what its task wants to be said.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use ff_core::command::claim::{Finish, FinishedOutcome};
use ff_core::command::lease::Renew;
use ff_core::command::steps::{RecordedSteps, StepReport};
use ff_core::fabric::On;
use ff_core::id::ExecutionId;
use ff_core::limits::DOING_MAX;
use ff_core::record::Fence;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::super::backoff::Backoff;
use super::super::lease::{Answer, Doing, Lease, Said, over};
use super::super::output::OutputRoom;
use super::gathering::{Output, Progress};
use crate::ctx::{Halt, Stop};

/// How long a handler may go on after it was told that its task is no longer its own.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// Something to be said, with where its answer goes.
pub(super) type Saying<C, T> = (C, Answer<T>);

/// A lease this process has.
pub(super) struct Held {
    pub(super) execution_id: ExecutionId,
    pub(super) fence: Fence,
    /// When the lease is over by this machine's clock.
    pub(super) ends_at: Instant,
    pub(super) renew_at: Instant,
    pub(super) is_renewing: bool,
    /// Why the engine ended it while something was on its way.
    pub(super) ended_by_others: Option<Stop>,
    /// Tells the task to stop.
    pub(super) halt: watch::Sender<Option<Halt>>,
    /// When its handler is dropped if it has not stopped by itself.
    pub(super) drop_at: Option<Instant>,
    doing: Doing,
    pub(super) steps: VecDeque<Saying<StepReport, RecordedSteps>>,
    /// So many of the steps are recorded one by one, because together they were refused.
    pub(super) single_steps: usize,
    pub(super) output: Output,
    pub(super) progress: Progress,
    pub(super) finish: Option<Saying<Finish, FinishedOutcome>>,
    /// Something about it is on its way: the next thing is said after the answer.
    pub(super) is_reporting: bool,
    /// Nothing is said before this moment, because something was to be tried again later.
    pub(super) quiet_until: Option<Instant>,
    pub(super) backoff: Backoff,
    /// The lease has ended: nothing more is to be said.
    pub(super) is_over: bool,
    /// Nobody runs the task.
    pub(super) is_gone: bool,
    pub(super) running: Option<AbortHandle>,
}

impl Held {
    /// A lease that just came, and lasts so long.
    pub(super) fn new(execution_id: ExecutionId, fence: Fence, left: Duration) -> Self {
        let now = Instant::now();
        let mut held = Self {
            execution_id,
            fence,
            ends_at: now,
            renew_at: now,
            is_renewing: false,
            ended_by_others: None,
            halt: watch::Sender::new(None),
            drop_at: None,
            doing: Doing::default(),
            steps: VecDeque::new(),
            single_steps: 0,
            output: Output::default(),
            progress: Progress::default(),
            finish: None,
            is_reporting: false,
            quiet_until: None,
            backoff: Backoff::of_calls(),
            is_over: false,
            is_gone: false,
            running: None,
        };
        held.lasts(now, left);
        held
    }

    /// The task's side of it.
    pub(super) fn lease(&self, number: u64, to_loop: mpsc::UnboundedSender<Said>) -> Lease {
        Lease {
            execution_id: self.execution_id,
            fence: self.fence,
            number,
            to_loop,
            halt: self.halt.subscribe(),
            doing: Arc::clone(&self.doing),
            output_room: OutputRoom::new(),
        }
    }

    /// The lease lasts so long from `since` on. Of two ends the later counts.
    pub(super) fn lasts(&mut self, since: Instant, left: Duration) {
        let ends_at = since + left;
        if ends_at > self.ends_at {
            self.ends_at = ends_at;
            self.renew_at = since + left / 3;
        }
    }

    /// Whether something can be said about it now.
    pub(super) fn is_ready(&self, now: Instant) -> bool {
        let is_due = self.output.wait.is_over() || self.progress.wait.is_over();
        let has_word = is_due || !self.steps.is_empty() || self.finish.is_some();
        has_word && !self.is_reporting && !self.is_over && self.quiet_until.is_none_or(|until| until <= now)
    }

    /// When something has to be done about it without anybody saying so. A moment that nothing can be done at is none: the loop
    /// would turn without end.
    pub(super) fn next_moment(&self, can_renew: bool) -> Option<Instant> {
        let renewal = can_renew.then(|| self.renewal_moment()).flatten();
        let end = (!self.is_over).then_some(self.ends_at);
        let gathered = [self.output.wait.moment(), self.progress.wait.moment()];
        let moments = [renewal, end, self.drop_at, self.quiet_until];
        moments.into_iter().chain(gathered).flatten().min()
    }

    /// Whether something has become due to be said since now.
    pub(super) fn has_come(&mut self, now: Instant) -> bool {
        let quiet_is_over = self.quiet_until.take_if(|until| *until <= now).is_some();
        let output = self.output.wait.has_come(now);
        let progress = self.progress.wait.has_come(now);
        quiet_is_over || output || progress
    }

    /// What keeps the lease.
    pub(super) fn renewal(&self) -> On<ExecutionId, Renew> {
        let doing = self.doing.lock().unwrap_or_else(PoisonError::into_inner);
        let renew = Renew {
            fence: Some(self.fence),
            ttl: None,
            doing: doing.iter().take(DOING_MAX).cloned().collect(),
        };
        On::new(self.execution_id, renew)
    }

    /// Asks the handler to stop, and drops it when so much time has passed; what is worse replaces what was said before.
    pub(super) fn stop(&mut self, stop: Stop, patience: Option<Duration>) {
        let is_news = self
            .halt
            .borrow()
            .as_ref()
            .is_none_or(|halt| severity(&halt.stop) < severity(&stop));
        if !is_news {
            return;
        }
        let drop_now = self.halt.borrow().as_ref().is_some_and(|halt| halt.drop_now);
        self.halt.send_replace(Some(Halt { stop, drop_now }));
        if let Some(patience) = patience {
            let at = Instant::now() + patience;
            self.drop_at = Some(self.drop_at.map_or(at, |before| before.min(at)));
        }
    }

    /// The handler had its time.
    pub(super) fn drop_handler(&mut self) {
        self.drop_at = None;
        self.halt.send_modify(|halt| {
            if let Some(halt) = halt {
                halt.drop_now = true;
            }
        });
    }

    /// The lease is gone: whatever was to be said is refused.
    pub(super) fn lose(&mut self, stop: Stop) {
        self.is_over = true;
        self.stop(stop, Some(PATIENCE));
        for (_, answer) in self.steps.drain(..) {
            let _ = answer.send(Err(over()));
        }
        for (_, answer) in self.output.take_all() {
            let _ = answer.send(Err(over()));
        }
        self.progress = Progress::default();
        if let Some((_, answer)) = self.finish.take() {
            let _ = answer.send(Err(over()));
        }
    }
}

/// Which of two reasons to stop is told.
const fn severity(stop: &Stop) -> u8 {
    match stop {
        Stop::Draining => 0,
        Stop::Budget(_) => 1,
        Stop::Cancelled | Stop::LeaseLost => 2,
    }
}
