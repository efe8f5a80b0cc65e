//! The one call of a remote worker's loop.

use ff_core::command::claim::{Exchange, Exchanged, Finish, FinishedOutcome};
use ff_core::command::flow::{WaitChildren, WaitedChildren};
use ff_core::command::lease::{Complete, DelayUntil, Fail, Release, Renew};
use ff_core::command::steps::RecordSteps;
use ff_core::command::waitpoint::SuspendedTask;
use ff_core::command::worker::WorkerLoad;
use ff_core::fabric::On;
use ff_core::id::ExecutionId;
use ff_core::record::{LeaseOperation, StepKind};
use ff_core::time::Duration;

use super::{Held, Worker};
use crate::invariants::{Act, SentSteps};
use crate::world::actor::call;
use crate::world::names;

impl Worker {
    /// Records steps, finishes some tasks, renews the others, sends frames and usage, and asks for more.
    pub(super) async fn exchange(&mut self) {
        let luck = self.actor.luck.clone();
        let held = std::mem::take(&mut self.tasks);
        let (done, kept): (Vec<Held>, Vec<Held>) = held.into_iter().partition(|_| luck.one_in(2));
        let recording: Vec<&Held> = done.iter().chain(&kept).filter(|_| luck.one_in(3)).collect();
        let recordings = recording.iter().map(|held| (held.id, self.recording(held)));
        let (recorded, steps): (Vec<SentSteps>, Vec<On<ExecutionId, RecordSteps>>) = recordings
            .map(|(id, (sent, command))| (sent, On::new(id, command)))
            .unzip();
        let finished: Vec<(SentSteps, On<ExecutionId, Finish>)> = done.iter().map(|held| self.finished(held)).collect();
        let (ends, finished): (Vec<SentSteps>, Vec<On<ExecutionId, Finish>>) = finished.into_iter().unzip();
        let frames = kept
            .iter()
            .filter(|_| luck.flip())
            .map(|held| On::new(held.id, self.frame(held)));
        let reports = kept
            .iter()
            .filter(|_| luck.flip())
            .filter_map(|held| Some(On::new(held.id, self.usage_report(held)?)));
        let command = Exchange {
            namespace: self.namespace.clone(),
            worker: self.worker.clone(),
            instance: self.instance.clone(),
            incarnation: self.incarnation,
            renew: kept.iter().map(renewal).collect(),
            frames: frames.collect(),
            usage: reports.collect(),
            want: luck.flip().then(|| self.want()),
            load: WorkerLoad {
                running: u32::try_from(kept.len()).ok(),
                ..WorkerLoad::default()
            },
            wait: Duration::from_millis(luck.choose([0, 0, 1_000])),
            finished,
            request_id: None,
            steps,
        };
        match call!(self.actor, exchange, command.clone()).await.told() {
            // Nobody knows what was done: everything may still be ours.
            None => self.tasks = done.into_iter().chain(kept).collect(),
            Some(exchanged) => {
                self.recorded(&recorded, &exchanged);
                let done: Vec<(Held, SentSteps)> = done.into_iter().zip(ends).collect();
                self.exchanged((&done, kept), &command, exchanged);
            }
        }
    }

    fn recorded(&self, sent: &[SentSteps], exchanged: &Exchanged) {
        for (sent, answer) in sent.iter().zip(&exchanged.steps) {
            if let Ok(recorded) = answer {
                self.actor.stage.watch.recorded_steps(sent, &recorded.steps);
            }
        }
    }

    fn exchanged(&mut self, (done, kept): (&[(Held, SentSteps)], Vec<Held>), command: &Exchange, exchanged: Exchanged) {
        for (((held, sent), finished), result) in done.iter().zip(&command.finished).zip(&exchanged.results) {
            if let Ok(outcome) = result {
                self.finished_as(held, &finished.command, outcome);
                self.ended_with(sent, &finished.command, outcome);
            }
            if result.as_ref().is_err_and(|rejection| rejection.code.retryable()) {
                self.tasks.push(held.clone());
            } else {
                self.actor.board.known().old_fences.push((held.id, held.fence));
            }
        }
        for (held, renewed) in kept.into_iter().zip(&exchanged.renewed) {
            match &renewed.expires_at {
                Ok(expires_at) => {
                    self.told(&held, Act::Renewed(*expires_at));
                    self.tasks.push(held);
                }
                Err(rejection) if rejection.code.retryable() => self.tasks.push(held),
                Err(_) => self.actor.board.known().old_fences.push((held.id, held.fence)),
            }
        }
        for task in exchanged.tasks {
            self.take(&task);
        }
    }

    /// Lets a task go in some way, and what is to be remembered of its steps.
    fn finished(&self, held: &Held) -> (SentSteps, On<ExecutionId, Finish>) {
        let luck = &self.actor.luck;
        let sent = self.last_steps(held);
        let steps = sent.steps.clone();
        let how = match luck.below(8) {
            0..=2 => Finish::Complete(Complete {
                fence: None,
                result: held.result(),
                steps,
            }),
            3 => Finish::Fail(Fail {
                fence: None,
                reason: "it broke".to_owned(),
                category: names::some_category(luck),
                retry_after: None,
                steps,
            }),
            4 => Finish::Release(Release { fence: None, steps }),
            5 => Finish::Delay(DelayUntil {
                fence: None,
                until: self.actor.stage.watch.now() + Duration::from_millis(luck.below(5_000)),
                step: self.some_sleep(),
                steps,
            }),
            6 => Finish::WaitChildren(WaitChildren { fence: None, steps }),
            _ => Finish::Suspend(Box::new(self.suspension(held, steps))),
        };
        (sent, On::new(held.id, how.under(held.fence)))
    }

    fn ended_with(&self, sent: &SentSteps, finished: &Finish, outcome: &FinishedOutcome) {
        let paused = match (finished, outcome) {
            (Finish::Delay(delay), _) => delay.step.as_ref().map(|key| (key, StepKind::Sleep)),
            (Finish::Suspend(suspend), FinishedOutcome::Suspended(SuspendedTask::AlreadySatisfied { .. })) => {
                suspend.step.as_ref().map(|key| (key, StepKind::Wait))
            }
            _ => None,
        };
        self.actor.stage.watch.ended_with_steps(sent, paused);
    }

    fn finished_as(&self, held: &Held, finished: &Finish, outcome: &FinishedOutcome) {
        let operation = match (finished, outcome) {
            (_, FinishedOutcome::WaitedChildren(WaitedChildren::AlreadySatisfied))
            | (_, FinishedOutcome::Suspended(SuspendedTask::AlreadySatisfied { .. })) => {
                return self.told(held, Act::Used);
            }
            (Finish::Complete(complete), _) => {
                let result = complete.result.clone();
                self.actor.stage.watch.completed(held.id, held.fence, result);
                LeaseOperation::Complete
            }
            (Finish::Fail(_), _) => LeaseOperation::Fail,
            (Finish::Release(_), _) => LeaseOperation::Release,
            (Finish::Delay(_), _) => LeaseOperation::Delay,
            (Finish::WaitChildren(_), _) => LeaseOperation::WaitChildren,
            (Finish::Suspend(_), _) => LeaseOperation::Suspend,
        };
        self.told(held, Act::Ended(operation));
    }
}

fn renewal(held: &Held) -> On<ExecutionId, Renew> {
    let renew = Renew {
        fence: Some(held.fence),
        ttl: None,
        doing: Vec::new(),
    };
    On::new(held.id, renew)
}
