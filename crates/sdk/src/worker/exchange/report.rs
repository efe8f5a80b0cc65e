//! What tasks say: steps, output, and how they end.

use ff_core::command::claim::{Exchanged, Finish, FinishedOutcome};
use ff_core::command::flow::WaitedChildren;
use ff_core::command::lease::Release;
use ff_core::command::steps::{RecordedSteps, StepReport};
use ff_core::command::stream::AppendedFrame;
use ff_core::command::waitpoint::SuspendedTask;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::Result;
use ff_core::time::Timestamp;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::super::clock::left;
use super::super::lease::{Said, Word, is_lost};
use super::super::output::Unsent;
use super::batch::{Answers, Batch, Part, Room};
use super::held::{Held, Saying};
use super::progress::Told;
use super::{Done, Loop};
use crate::ctx::Stop;

/// Calls at once: while these are on their way, more collects for the next.
const CALLS_MAX: usize = 2;

impl Loop {
    /// Notes what a task says.
    pub(super) fn hear(&mut self, said: Said) {
        let number = said.lease;
        let Some(held) = self.held.get_mut(&number) else { return };
        if held.is_over && !matches!(said.word, Word::Gone) {
            // Whoever waits for the answer learns it from the channel that closes.
            return;
        }
        match said.word {
            Word::Step(step, answer) => held.steps.push_back((*step, answer)),
            Word::Frame(frame, answer) => held.output.push((*frame, answer), Instant::now()),
            Word::Flush => held.output.hurry(),
            Word::Progress(note) => held.progress.set(note, Instant::now()),
            Word::Finish(finish, answer) => held.finish = Some((*finish, answer)),
            Word::Gone => return self.gone(number),
        }
        self.talkative.push_back(number);
    }

    /// Nobody runs the task any more. If it was not let go, it is now: another worker goes on.
    fn gone(&mut self, number: u64) {
        let Some(held) = self.held.get_mut(&number) else { return };
        held.is_gone = true;
        if held.is_over {
            self.forget(number);
        } else if held.finish.is_none() {
            let (answer, _) = oneshot::channel();
            held.finish = Some((Finish::Release(Release::default()), answer));
            self.talkative.push_back(number);
        }
    }

    /// A task that is over and gone makes room.
    fn forget(&mut self, number: u64) {
        self.held.remove(&number);
        self.start_what_waits();
    }

    /// Sends what tasks have said, in few calls.
    pub(super) fn report_what_is_said(&mut self) {
        while self.reports_under_way < CALLS_MAX {
            let parts = self.next_parts();
            if parts.is_empty() {
                return;
            }
            self.report(Batch::new(parts), None);
        }
    }

    fn next_parts(&mut self) -> Vec<Part> {
        let (mut room, mut parts) = (Room::new(), Vec::new());
        let now = Instant::now();
        for _ in 0..self.talkative.len() {
            let Some(number) = self.talkative.pop_front() else {
                break;
            };
            let Some(held) = self.held.get_mut(&number).filter(|held| held.is_ready(now)) else {
                continue;
            };
            if let Some(part) = room.take(number, held) {
                held.is_reporting = true;
                parts.push(part);
                continue;
            }
            match self.tell_progress(number) {
                Told::OnItsWay => {}
                Told::Nothing | Told::Later => self.talkative.push_back(number),
            }
        }
        parts
    }

    /// Sends a batch, after a pause if it was sent before.
    fn report(&mut self, batch: Batch, pause: Option<std::time::Duration>) {
        self.reports_under_way += 1;
        let mut exchange = self.exchange();
        batch.write(&mut exchange);
        let call = self.send(exchange);
        self.under_way.push(Box::pin(async move {
            if let Some(pause) = pause {
                tokio::time::sleep(pause).await;
            }
            let sent = Instant::now();
            let answer = call.await;
            Done::Reported(batch, sent, answer)
        }));
    }

    pub(super) fn reported(&mut self, batch: Batch, sent: Instant, answer: Result<Exchanged>) {
        self.reports_under_way -= 1;
        match answer {
            Ok(exchanged) => {
                self.connection.works();
                self.shared.clock.heard(exchanged.server_time);
                let now = exchanged.server_time;
                self.told_to_stop(&exchanged.stops, now);
                for (part, answers) in batch.read(exchanged) {
                    self.answered(part, answers, (sent, now));
                }
            }
            Err(refusal) if refusal.code.retryable() => {
                self.connection.broke(&refusal);
                self.report_again(batch);
            }
            Err(refusal) => self.refused_together(batch, &refusal),
        }
    }

    /// The same bytes once more, but for tasks whose lease is over by now.
    fn report_again(&mut self, mut batch: Batch) {
        let held = &self.held;
        batch
            .parts
            .retain(|part| held.get(&part.number).is_some_and(|held| !held.is_over));
        if !batch.parts.is_empty() {
            let pause = batch.backoff.pause();
            self.report(batch, Some(pause));
        }
    }

    /// A call that is refused as a whole says nothing about its parts: each is tried without the others.
    fn refused_together(&mut self, batch: Batch, refusal: &Rejection) {
        if batch.parts.len() > 1 {
            return batch.split().into_iter().for_each(|half| self.report(half, None));
        }
        for part in batch.parts {
            let answers = Answers {
                steps: (!part.steps.is_empty()).then(|| Err(refusal.clone())),
                frames: part.frames.iter().map(|_| Err(refusal.clone())).collect(),
                finish: part.finish.as_ref().map(|_| Err(refusal.clone())),
            };
            self.answered(part, answers, (Instant::now(), self.shared.clock.now()));
        }
    }

    /// Hands the answers to whoever waits for them; what is worth another try stays to be said.
    fn answered(&mut self, part: Part, answers: Answers, times: (Instant, Timestamp)) {
        let number = part.number;
        let Some(held) = self.held.get_mut(&number) else { return };
        held.quiet_until = None;
        let mut try_again = Vec::new();
        if let Some(answer) = answers.steps {
            if answer.is_err() {
                held.progress.put_back(part.progress);
            }
            try_again.extend(held.steps_answered(part.steps, answer, times));
        }
        try_again.extend(held.frames_answered(part.frames, answers.frames));
        if let (Some((finish, waiting)), Some(answer)) = (part.finish, answers.finish) {
            match answer {
                Err(refusal) if refusal.code.retryable() => {
                    held.finish = Some((finish, waiting));
                    try_again.push(refusal);
                }
                answer => {
                    held.is_over |= ends_lease(&answer);
                    let _ = waiting.send(answer);
                }
            }
        }
        held.has_reported();
        if try_again.is_empty() {
            held.backoff.reset();
        } else {
            held.quiet_until = Some(Instant::now() + held.backoff.pause());
        }
        if held.is_over && held.is_gone {
            return self.forget(number);
        }
        self.talkative.push_back(number);
    }
}

impl Held {
    /// What is worth another try stays in its place; all others learn what came of their step.
    fn steps_answered(
        &mut self,
        steps: Vec<Saying<StepReport, RecordedSteps>>,
        answer: Result<RecordedSteps>,
        (sent, now): (Instant, Timestamp),
    ) -> Option<Rejection> {
        match answer {
            Ok(recorded) => {
                self.lasts(sent, left(recorded.expires_at, now));
                if let Some(request) = &recorded.stop_requested {
                    self.stop_for_budget(request, now);
                }
                self.stop_for_closed_budgets(&recorded.budgets);
                for (place, (_, waiting)) in steps.into_iter().enumerate() {
                    let mut own = recorded.clone();
                    own.steps = recorded.steps.get(place).copied().into_iter().collect();
                    let _ = waiting.send(Ok(own));
                }
                None
            }
            Err(refusal) if refusal.code.retryable() => {
                self.put_back(steps);
                Some(refusal)
            }
            // One of them is at fault: each is told only about itself.
            Err(refusal) if steps.len() > 1 && !is_lost(refusal.code) => {
                self.single_steps = steps.len();
                self.put_back(steps);
                None
            }
            Err(refusal) => {
                for (_, waiting) in steps {
                    let _ = waiting.send(Err(refusal.clone()));
                }
                self.note_refusal(&refusal);
                None
            }
        }
    }

    fn put_back(&mut self, steps: Vec<Saying<StepReport, RecordedSteps>>) {
        for step in steps.into_iter().rev() {
            self.steps.push_front(step);
        }
    }

    fn frames_answered(
        &mut self,
        frames: Vec<Saying<Unsent, AppendedFrame>>,
        answers: Vec<Result<AppendedFrame>>,
    ) -> Option<Rejection> {
        let mut try_again = None;
        for ((frame, waiting), answer) in frames.into_iter().zip(answers).rev() {
            match answer {
                Err(refusal) if refusal.code.retryable() => {
                    self.output.put_back((frame, waiting));
                    try_again = Some(refusal);
                }
                answer => {
                    if let Err(refusal) = &answer {
                        self.note_refusal(refusal);
                    }
                    if let Err(Err(refusal)) = waiting.send(answer) {
                        // Its writer is gone: nobody else would learn of it.
                        tracing::warn!(%refusal, execution_id = %self.execution_id, "a frame was refused");
                    }
                }
            }
        }
        try_again
    }

    /// A refusal may say that the lease is gone.
    pub(super) fn note_refusal(&mut self, refusal: &Rejection) {
        if is_lost(refusal.code) {
            self.lose(stop_of(refusal));
        }
    }
}

/// Why a task stops whose lease is gone.
pub(super) fn stop_of(refusal: &Rejection) -> Stop {
    match refusal.code {
        Code::ExecutionNotActive | Code::ExecutionNotFound => Stop::Cancelled,
        _ => Stop::LeaseLost,
    }
}

/// Whether the lease is over with this answer: a refusal that helps nobody to repeat leaves it to run out, unless it is gone.
fn ends_lease(answer: &Result<FinishedOutcome>) -> bool {
    match answer {
        Err(refusal) => is_lost(refusal.code),
        Ok(FinishedOutcome::WaitedChildren(WaitedChildren::AlreadySatisfied)) => false,
        Ok(FinishedOutcome::Suspended(SuspendedTask::AlreadySatisfied { .. })) => false,
        Ok(_) => true,
    }
}
