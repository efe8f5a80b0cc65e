//! A task of a worker, and what there is to say about it.

use std::mem::take;
use std::time::Instant;
use std::vec::IntoIter;

use ff_core::command::budget::Reported;
use ff_core::command::claim::{Finish, FinishedOutcome, RenewedLease, Task};
use ff_core::command::lease::{Complete, Completed, Fail, LetGo, Release, Renew, ReportUsage};
use ff_core::command::steps::{RecordSteps, RecordedSteps, StepReport, StepStatus};
use ff_core::command::stream::{AppendFrame, AppendedFrame};
use ff_core::command::suspend::{Suspend, WaitpointChoice};
use ff_core::command::waitpoint::SuspendedTask;
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::frame::FrameMode;
use ff_core::id::ExecutionId;
use ff_core::name::{Category, Dimension, FrameType, RequestId, StepKey, WaitpointKey};
use ff_core::payload::Payload;
use ff_core::record::{Fence, Matcher, ReasonCode, ResumeCondition};
use serde_json::json;

use super::ledger::Ledger;
use super::signaller::Waiting;
use super::submitter::{ASKS, FAILS_ONCE};
use super::told::{Ended, Ending, Line, Recorded, Run, Spent, When};
use super::worker::{LEASE_TTL, Worker};
use crate::luck::Luck;

/// What all usage is counted in.
pub(crate) const UNITS: &str = "units";

/// A task of a worker, with what is still to be said about it.
pub(crate) struct Held {
    task: Task,
    pub(crate) run: Run,
    /// Until when its worker may believe to be the only one; the lease may last longer.
    pub(crate) believed_until: Instant,
    /// Its worker was told that somebody else has it.
    pub(crate) is_lost: bool,
    pub(crate) renew: bool,
    /// Steps by their numbers, those of one call together.
    steps: Vec<Vec<u64>>,
    frames: Vec<u64>,
    /// Reports by number, with their amounts.
    usage: Vec<(u64, u64)>,
    ending: Option<Ending>,
}

/// The answers of an exchange, in the order of what was said.
pub(crate) struct Answers {
    pub(crate) renewed: IntoIter<RenewedLease>,
    pub(crate) steps: IntoIter<Result<RecordedSteps>>,
    pub(crate) frames: IntoIter<Result<AppendedFrame>>,
    pub(crate) usage: IntoIter<Result<Reported>>,
    pub(crate) results: IntoIter<Result<FinishedOutcome>>,
}

impl Held {
    pub(crate) fn new(task: Task, asked_at: Instant) -> Self {
        let resumed = task.resumed.iter().flat_map(|resumed| &resumed.signals);
        Self {
            run: Run {
                signals: resumed.map(|view| view.signal.id).collect(),
                ..Run::of(&task, asked_at)
            },
            task,
            // It was leased after it was asked for.
            believed_until: asked_at + LEASE_TTL,
            is_lost: false,
            renew: false,
            steps: Vec::new(),
            frames: Vec::new(),
            usage: Vec::new(),
            ending: None,
        }
    }

    /// There is nothing left to say.
    pub(crate) fn is_over(&self) -> bool {
        self.is_lost
            || (self.run.end.is_some() && self.steps.is_empty() && self.frames.is_empty() && self.usage.is_empty())
    }

    /// What is noted of it; nobody knows what became of steps and reports that could not be repeated.
    pub(crate) fn into_run(mut self) -> Run {
        let (told, when) = (Err(Code::Unavailable), When::since(self.run.taken.asked));
        let steps = self.steps.into_iter();
        self.run
            .steps
            .extend(steps.map(|numbers| Recorded { numbers, told, when }));
        let usage = self.usage.into_iter();
        self.run
            .usage
            .extend(usage.map(|(_, amount)| Spent { amount, told, when }));
        self.run
    }

    /// Records steps, puts something out, and spends something.
    pub(crate) fn say_something(&mut self, ledger: &Ledger, luck: &mut Luck) {
        if luck.below(2) == 0 {
            self.steps.push((0..=luck.below(3)).map(|_| ledger.number()).collect());
        }
        self.frames.extend((0..luck.below(3)).map(|_| ledger.number()));
        if luck.below(2) == 0 {
            self.usage.push((ledger.number(), luck.within(1..10)));
        }
    }

    /// Decides what comes of it.
    pub(crate) fn plan(&mut self, ledger: &Ledger, luck: &mut Luck) {
        self.say_something(ledger, luck);
        let is_first = self.task.attempt_index == 0;
        self.ending = Some(match self.task.execution_kind.as_str() {
            FAILS_ONCE if is_first => Ending::Fail,
            ASKS if self.task.resumed.is_none() => Ending::Suspend,
            _ if self.run.lease_epoch == 1 && luck.below(15) == 0 => Ending::Release,
            _ => Ending::Complete(json!({ "epoch": self.run.lease_epoch, "number": ledger.number() })),
        });
    }

    fn fence(&self) -> Option<Fence> {
        Some(self.task.fence)
    }

    pub(crate) fn renewal(&self) -> Option<On<ExecutionId, Renew>> {
        let renew = Renew {
            fence: self.fence(),
            ..Renew::default()
        };
        self.renew.then(|| On::new(self.run.id, renew))
    }

    pub(crate) fn frame(&self, number: u64) -> AppendFrame {
        AppendFrame {
            fence: self.fence(),
            frame_type: FrameType::parse("line").unwrap(),
            payload: Payload::binary(number.to_string()),
            mode: FrameMode::Durable,
            correlation_id: None,
            request_id: Some(request_id(number)),
        }
    }

    pub(crate) fn steps_to_send(&self) -> impl Iterator<Item = On<ExecutionId, RecordSteps>> {
        let calls = self.steps.iter();
        calls.map(|numbers| On::new(self.run.id, record_steps(self.task.fence, numbers)))
    }

    pub(crate) fn frames_to_send(&self) -> impl Iterator<Item = On<ExecutionId, AppendFrame>> {
        let numbers = self.frames.iter();
        numbers.map(|number| On::new(self.run.id, self.frame(*number)))
    }

    pub(crate) fn usage_to_send(&self, ledger: &Ledger) -> impl Iterator<Item = On<ExecutionId, ReportUsage>> {
        let budget_id = ledger.budget_id;
        let report = move |(number, amount): &(u64, u64)| ReportUsage {
            fence: self.fence(),
            budget_id,
            deltas: [(Dimension::parse(UNITS).unwrap(), *amount)].into(),
            dedup_key: None,
            request_id: Some(request_id(*number)),
        };
        self.usage.iter().map(move |usage| On::new(self.run.id, report(usage)))
    }

    pub(crate) fn finish(&self) -> Option<On<ExecutionId, Finish>> {
        let finish = match self.ending.as_ref()? {
            Ending::Complete(result) => Finish::Complete(Complete {
                fence: None,
                result: Some(Payload::json(result)),
                ..Complete::default()
            }),
            Ending::Fail => Finish::Fail(Fail {
                fence: None,
                reason: "the first attempt fails".to_owned(),
                category: Category::parse("transient").unwrap(),
                retry_after: None,
                steps: Vec::new(),
            }),
            Ending::Suspend => Finish::Suspend(Box::new(for_an_answer())),
            Ending::Release => Finish::Release(Release::default()),
        };
        Some(On::new(self.run.id, finish.under(self.task.fence)))
    }

    /// Takes what was answered to what was said; what may help to say again stays.
    pub(crate) fn hear(&mut self, worker: &Worker, answers: &mut Answers, asked_at: Instant) {
        if take(&mut self.renew) {
            match answers.renewed.next().unwrap().expires_at {
                Ok(_) => self.believed_until = asked_at + LEASE_TTL,
                Err(refusal) if refusal.code.retryable() => {}
                Err(refusal) => drop(worker.lost(self, "a renewal", &refusal)),
            }
        }
        for numbers in take(&mut self.steps) {
            let told = match answers.steps.next().unwrap() {
                Ok(recorded) => {
                    if recorded.steps.iter().any(|step| step.status == StepStatus::Already) {
                        worker.ledger.note_repeated();
                    }
                    Ok(())
                }
                Err(refusal) if refusal.code.retryable() => {
                    self.steps.push(numbers);
                    continue;
                }
                Err(refusal) => Err(worker.refused(self, "steps", &refusal)),
            };
            let when = When::since(asked_at);
            self.run.steps.push(Recorded { numbers, told, when });
        }
        // A repetition of a call that was answered to nobody finds the lease ended by itself. Said again later, a frame would
        // stand behind those that were said after it.
        for number in take(&mut self.frames) {
            let told = match answers.frames.next().unwrap() {
                Ok(appended) => Ok(appended.frame_id),
                Err(refusal) if refusal.code.retryable() => Err(refusal.code),
                Err(refusal) => Err(worker.refused(self, "a frame", &refusal)),
            };
            let when = When::since(asked_at);
            self.run.frames.push(Line { number, told, when });
        }
        for (number, amount) in take(&mut self.usage) {
            let told = match answers.usage.next().unwrap() {
                Ok(reported) => {
                    if reported == Reported::AlreadyApplied {
                        worker.ledger.note_repeated();
                    }
                    Ok(())
                }
                Err(refusal) if refusal.code.retryable() => {
                    self.usage.push((number, amount));
                    continue;
                }
                Err(refusal) => Err(worker.refused(self, "usage", &refusal)),
            };
            let when = When::since(asked_at);
            self.run.usage.push(Spent { amount, told, when });
        }
        if let Some(ending) = self.ending.take() {
            self.hear_of_end(worker, ending, answers.results.next().unwrap(), asked_at);
        }
    }

    fn hear_of_end(&mut self, worker: &Worker, how: Ending, answer: Result<FinishedOutcome>, asked_at: Instant) {
        let told = match answer {
            Ok(outcome) => {
                self.hand_on(worker, outcome, asked_at);
                Ok(())
            }
            Err(refusal) if refusal.code.retryable() => {
                self.ending = Some(how);
                return;
            }
            // Done by a call that was answered to nobody, these let others take the task.
            Err(refusal) if matches!(how, Ending::Fail | Ending::Release) => {
                Err(worker.refused(self, "an end", &refusal))
            }
            Err(refusal) => Err(worker.lost(self, "an end", &refusal)),
        };
        let when = When::since(asked_at);
        self.run.end = Some(Ended { how, told, when });
    }

    fn hand_on(&self, worker: &Worker, outcome: FinishedOutcome, asked: Instant) {
        match outcome {
            FinishedOutcome::Suspended(SuspendedTask::Suspended { mut waitpoints, .. }) => {
                let (id, waitpoint) = (self.run.id, waitpoints.remove(0));
                worker.suspended(Waiting { id, waitpoint, asked });
            }
            FinishedOutcome::Suspended(other) => worker.ledger.note_oddity("a suspension", format_args!("{other:?}")),
            FinishedOutcome::Completed(Completed::Already) | FinishedOutcome::Released(LetGo::Already) => {
                worker.ledger.note_repeated();
            }
            _ => {}
        }
    }
}

/// Records steps, each of which leaves its name.
pub(crate) fn record_steps(fence: Fence, numbers: &[u64]) -> RecordSteps {
    let step = |number: &u64| {
        let key = StepKey::parse(number.to_string()).unwrap();
        StepReport::done(key, Some(Payload::binary(number.to_string())))
    };
    RecordSteps {
        fence: Some(fence),
        steps: numbers.iter().map(step).collect(),
        progress: None,
    }
}

fn request_id(number: u64) -> RequestId {
    RequestId::parse(number.to_string()).unwrap()
}

fn for_an_answer() -> Suspend {
    let waitpoint_key = WaitpointKey::parse("answer").unwrap();
    Suspend {
        fence: None,
        waitpoints: vec![WaitpointChoice::Fresh {
            waitpoint_key: waitpoint_key.clone(),
            waitpoint_id: None,
        }],
        resume_condition: ResumeCondition::Single {
            waitpoint_key,
            matcher: Matcher::Any,
        },
        reason_code: ReasonCode::WaitingForSignal,
        timeout_at: None,
        timeout_behavior: None,
        resume_delay: ff_core::time::Duration::ZERO,
        idempotency_key: None,
        suspension_id: None,
        step: None,
        steps: Vec::new(),
    }
}
