//! What is said in one call, and who hears the answers.

use ff_core::command::claim::{Exchange, Exchanged, Finish, FinishedOutcome};
use ff_core::command::steps::{ProgressNote, RecordSteps, RecordedSteps, StepReport};
use ff_core::command::stream::{AppendFrame, AppendedFrame};
use ff_core::error::Rejection;
use ff_core::fabric::On;
use ff_core::id::ExecutionId;
use ff_core::limits::{BATCH_ITEMS_MAX, STEP_BYTES_PER_CALL_MAX, STEPS_PER_CALL_MAX};
use ff_core::record::Fence;

use super::super::backoff::Backoff;
use super::super::output::Unsent;
use super::held::{Held, Saying};

/// Bytes of payloads in one call: as base64 in JSON they stay well below what a server takes.
const BYTES_MAX: usize = 6 * 1024 * 1024;

/// What is said about some tasks in one call.
pub(super) struct Batch {
    pub(super) parts: Vec<Part>,
    pub(super) backoff: Backoff,
}

/// What is said about one task.
pub(super) struct Part {
    pub(super) number: u64,
    execution_id: ExecutionId,
    fence: Fence,
    pub(super) steps: Vec<Saying<StepReport, RecordedSteps>>,
    /// Goes with the steps.
    pub(super) progress: Option<ProgressNote>,
    pub(super) frames: Vec<Saying<Unsent, AppendedFrame>>,
    pub(super) finish: Option<Saying<Finish, FinishedOutcome>>,
}

/// The answers to one part.
pub(super) struct Answers {
    pub(super) steps: Option<Result<RecordedSteps, Rejection>>,
    pub(super) frames: Vec<Result<AppendedFrame, Rejection>>,
    pub(super) finish: Option<Result<FinishedOutcome, Rejection>>,
}

impl Batch {
    pub(super) const fn new(parts: Vec<Part>) -> Self {
        Self {
            parts,
            backoff: Backoff::of_calls(),
        }
    }

    /// Adds to an exchange what these tasks say.
    pub(super) fn write(&self, exchange: &mut Exchange) {
        for part in &self.parts {
            let fence = Some(part.fence);
            if !part.steps.is_empty() {
                let steps = part.steps.iter().map(|(step, _)| step.clone()).collect();
                let record = RecordSteps {
                    fence,
                    steps,
                    progress: part.progress.clone(),
                };
                exchange.steps.push(On::new(part.execution_id, record));
            }
            let frames = part.frames.iter().map(|(unsent, _)| AppendFrame {
                fence,
                ..unsent.frame.clone()
            });
            exchange
                .frames
                .extend(frames.map(|frame| On::new(part.execution_id, frame)));
            if let Some((finish, _)) = &part.finish {
                let finish = finish.clone().under(part.fence);
                exchange.finished.push(On::new(part.execution_id, finish));
            }
        }
    }

    /// The answers to each part, in its order.
    pub(super) fn read(self, exchanged: Exchanged) -> impl Iterator<Item = (Part, Answers)> {
        let (mut steps, mut frames) = (exchanged.steps.into_iter(), exchanged.frames.into_iter());
        let mut results = exchanged.results.into_iter();
        self.parts.into_iter().map(move |part| {
            let answers = Answers {
                steps: (!part.steps.is_empty()).then(|| steps.next()).flatten(),
                frames: frames.by_ref().take(part.frames.len()).collect(),
                finish: part.finish.as_ref().and_then(|_| results.next()),
            };
            (part, answers)
        })
    }

    /// Two halves, where together they were refused.
    pub(super) fn split(mut self) -> [Self; 2] {
        let rest = self.parts.split_off(self.parts.len() / 2);
        [self, Self::new(rest)]
    }
}

/// What still fits into one call.
pub(super) struct Room {
    items: usize,
    bytes: usize,
}

impl Room {
    pub(super) const fn new() -> Self {
        Self {
            items: BATCH_ITEMS_MAX,
            bytes: BYTES_MAX,
        }
    }

    /// Takes what is to be said about a task, as far as it fits; the first of a call always does.
    pub(super) fn take(&mut self, number: u64, held: &mut Held) -> Option<Part> {
        let mut part = Part {
            number,
            execution_id: held.execution_id,
            fence: held.fence,
            steps: Vec::new(),
            progress: None,
            frames: Vec::new(),
            finish: None,
        };
        while let Some(frame) = held.output.pop_if(|bytes| self.fits(bytes)) {
            part.frames.push(frame);
        }
        // What a step has put out does not come after it.
        if held.output.is_empty() {
            self.take_steps(held, &mut part);
        }
        if !part.steps.is_empty() {
            part.progress = held.progress.take();
        }
        let is_last = held.steps.is_empty() && held.output.is_empty() && held.progress.is_empty();
        if is_last
            && held
                .finish
                .as_ref()
                .is_some_and(|(finish, _)| self.fits(bytes_of(finish)))
        {
            part.finish = held.finish.take();
        }
        let is_empty = part.steps.is_empty() && part.frames.is_empty() && part.finish.is_none();
        (!is_empty).then_some(part)
    }

    fn take_steps(&mut self, held: &mut Held, part: &mut Part) {
        let count_max = if held.single_steps > 0 { 1 } else { STEPS_PER_CALL_MAX };
        let mut bytes_left = STEP_BYTES_PER_CALL_MAX;
        while let Some((step, _)) = held.steps.front() {
            let bytes = step.output.as_ref().map_or(0, |output| output.len());
            let is_too_much = bytes > bytes_left && !part.steps.is_empty();
            if part.steps.len() == count_max || is_too_much || !self.fits(bytes) {
                break;
            }
            bytes_left = bytes_left.saturating_sub(bytes);
            part.steps.extend(held.steps.pop_front());
        }
        held.single_steps = held.single_steps.saturating_sub(part.steps.len());
    }

    /// Takes room for one item of so many bytes.
    fn fits(&mut self, bytes: usize) -> bool {
        let is_untouched = self.bytes == BYTES_MAX;
        let fits = self.items > 0 && (bytes <= self.bytes || is_untouched);
        if fits {
            self.items -= 1;
            // Even an item without bytes makes a call one that is begun.
            self.bytes = self.bytes.saturating_sub(bytes.max(1));
        }
        fits
    }
}

fn bytes_of(finish: &Finish) -> usize {
    match finish {
        Finish::Complete(complete) => complete.result.as_ref().map_or(0, |result| result.len()),
        _ => 0,
    }
}
