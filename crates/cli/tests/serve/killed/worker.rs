//! A worker: it says with one call what came of its tasks and takes others. Some it fails, some it lets wait for a signal, a
//! few it gives back.

use std::slice;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ff_core::capability::CapabilitySet;
use ff_core::command::claim::{Exchange, LaneOrder, Task, Want};
use ff_core::command::stream::AppendFrame;
use ff_core::command::worker::WorkerLoad;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::On;
use ff_core::name::{LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::record::Incarnation;
use ff_sdk::{Fabric, Remote};
use futures::future::join_all;
use tokio::sync::mpsc::UnboundedSender;
use uuid::Uuid;

use super::held::{Answers, Held};
use super::ledger::Ledger;
use super::signaller::Waiting;
use super::told::{Line, When};
use crate::luck::Luck;

/// How long a lease lasts between renewals.
pub(crate) const LEASE_TTL: Duration = Duration::from_secs(2);
const TASKS_MAX: usize = 4;
const WAIT: ff_core::time::Duration = ff_core::time::Duration::from_millis(200);

/// One worker.
pub(crate) struct Worker {
    client: Remote,
    pub(super) ledger: Arc<Ledger>,
    instance: WorkerInstanceId,
    incarnation: Incarnation,
    /// Whoever answers suspended executions.
    suspended: UnboundedSender<Waiting>,
}

impl Worker {
    pub(crate) fn new(client: Remote, ledger: Arc<Ledger>, who: u64, suspended: UnboundedSender<Waiting>) -> Self {
        Self {
            client,
            ledger,
            instance: WorkerInstanceId::parse(format!("killed-{who}")).unwrap(),
            incarnation: Incarnation(Uuid::new_v4()),
            suspended,
        }
    }

    /// Works until it is told to stop, and everything it had to say was answered.
    pub(crate) async fn work(self, mut luck: Luck) {
        let mut held = Vec::new();
        while !(self.ledger.workers_stop() && held.is_empty()) {
            let max = match self.ledger.workers_stop() {
                true => 0,
                false => TASKS_MAX,
            };
            let asked_at = Instant::now();
            let tasks = self.exchange(&mut held, max).await;
            held = self.forget_what_is_over(held);
            let begun = tasks.into_iter().map(|task| {
                let luck = Luck::of(luck.within(0..u64::MAX), 0);
                self.begin(Held::new(task, asked_at), luck)
            });
            held.extend(self.forget_what_is_over(join_all(begun).await));
        }
    }

    fn forget_what_is_over(&self, held: Vec<Held>) -> Vec<Held> {
        let (over, held): (Vec<Held>, Vec<Held>) = held.into_iter().partition(Held::is_over);
        over.into_iter().for_each(|held| self.ledger.note_run(held.into_run()));
        held
    }

    /// Works on a task for a while, and says something about it while it does.
    async fn begin(&self, mut held: Held, mut luck: Luck) -> Held {
        if luck.below(3) == 0 {
            self.append_alone(&mut held).await;
        }
        if luck.below(3) > 0 {
            held.renew = true;
            held.say_something(&self.ledger, &mut luck);
            self.exchange(slice::from_mut(&mut held), 0).await;
        }
        luck.pause(0..20).await;
        if !held.is_lost {
            held.plan(&self.ledger, &mut luck);
        }
        held
    }

    /// A frame in a call of its own, which the client makes one however often it is sent.
    async fn append_alone(&self, held: &mut Held) {
        let number = self.ledger.number();
        let frame = AppendFrame {
            request_id: None,
            ..held.frame(number)
        };
        let asked_at = Instant::now();
        let appended = self.client.append_frame(On::new(held.run.id, frame)).await;
        self.ledger.note_answer();
        let told = match appended {
            Ok(appended) => Ok(appended.frame_id),
            Err(refusal) => Err(self.lost(held, "a frame", &refusal)),
        };
        let when = When::since(asked_at);
        held.run.frames.push(Line { number, told, when });
    }

    /// Says what there is to say about these tasks, and takes up to `max` others.
    async fn exchange(&self, held: &mut [Held], max: usize) -> Vec<Task> {
        let asked_at = Instant::now();
        let exchanged = match self.client.exchange(self.turn(held, max)).await {
            Ok(exchanged) => exchanged,
            Err(refusal) => {
                self.ledger.note_oddity("an exchange", refusal);
                tokio::time::sleep(Duration::from_millis(10)).await;
                return Vec::new();
            }
        };
        self.ledger.note_answer();
        let mut answers = Answers {
            renewed: exchanged.renewed.into_iter(),
            steps: exchanged.steps.into_iter(),
            frames: exchanged.frames.into_iter(),
            usage: exchanged.usage.into_iter(),
            results: exchanged.results.into_iter(),
        };
        for held in held {
            held.hear(self, &mut answers, asked_at);
        }
        exchanged.tasks
    }

    fn turn(&self, held: &[Held], max: usize) -> Exchange {
        Exchange {
            namespace: Namespace::default_namespace(),
            worker: WorkerId::parse("killed").unwrap(),
            instance: self.instance.clone(),
            incarnation: self.incarnation,
            finished: held.iter().filter_map(Held::finish).collect(),
            renew: held.iter().filter_map(Held::renewal).collect(),
            steps: held.iter().flat_map(Held::steps_to_send).collect(),
            frames: held.iter().flat_map(Held::frames_to_send).collect(),
            usage: held.iter().flat_map(|held| held.usage_to_send(&self.ledger)).collect(),
            want: Some(Want {
                lanes: vec![LaneId::default_lane()],
                lane_order: LaneOrder::Strict,
                capabilities: CapabilitySet::default(),
                max,
                lease_ttl: Some(ff_core::time::Duration::from_secs(LEASE_TTL.as_secs())),
            }),
            load: WorkerLoad::default(),
            wait: WAIT,
            request_id: None,
        }
    }

    /// It was told that the task is not its own, and there was no reason to believe so.
    pub(super) fn lost(&self, held: &mut Held, what: &str, refusal: &Rejection) -> Code {
        let may_believe = Instant::now() < held.believed_until && !self.ledger.may_be_forgotten(held.run.taken.asked);
        if may_believe {
            let what = format!("{what} of the holder of a live lease");
            self.ledger
                .note_oddity(&what, format_args!("{refusal}, {:?}", held.run));
        }
        held.is_lost = true;
        self.refused(held, what, refusal)
    }

    /// Being told that a task is somebody else's is part of the game; anything else is not.
    pub(super) fn refused(&self, held: &Held, what: &str, refusal: &Rejection) -> Code {
        let is_forgotten =
            refusal.code == Code::ExecutionNotFound && self.ledger.may_be_forgotten(held.run.taken.asked);
        if !is_fenced(refusal.code) && !is_forgotten {
            self.ledger.note_oddity(what, format_args!("{refusal}, {:?}", held.run));
        }
        refusal.code
    }

    /// Hands on where a suspended execution waits.
    pub(super) fn suspended(&self, waiting: Waiting) {
        self.suspended.send(waiting).unwrap();
    }
}

/// Whether this says that the caller does not have the lease.
const fn is_fenced(code: Code) -> bool {
    matches!(
        code,
        Code::StaleLease
            | Code::LeaseExpired
            | Code::NoActiveLease
            | Code::ExecutionNotActive
            | Code::StaleOwnerCannotAppend
            | Code::StreamClosed
    )
}
