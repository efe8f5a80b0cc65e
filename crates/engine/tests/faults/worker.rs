//! A worker: claims, renews, completes. Now and then it gives a task back, or stops in the middle of one and comes back when it
//! is too late.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ff_core::capability::CapabilitySet;
use ff_core::command::claim::{Claim, LaneOrder, Task, Want};
use ff_core::command::lease::{Complete, Release, Renew};
use ff_core::error::{Code, Rejection};
use ff_core::fabric::{Fabric, On};
use ff_core::name::{LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_engine::Engine;
use futures::future::join_all;

use crate::insist::insist;
use crate::ledger::{End, Ledger, Run, RunNumber};
use crate::luck::Luck;
use crate::window::Span;

/// How long a lease lasts between renewals.
pub(crate) const LEASE_TTL: Duration = Duration::from_secs(2);
const TASKS_MAX: usize = 4;
const WAIT: ff_core::time::Duration = ff_core::time::Duration::from_millis(300);

/// What a worker does with a task.
enum Plan {
    Complete,
    RenewAndComplete,
    GiveBack,
    /// It stops, and tries to complete when somebody else has the task.
    Stall,
}

/// One worker.
#[derive(Clone)]
pub(crate) struct Worker {
    pub(crate) engine: Engine,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) number: u64,
}

/// A task of this worker, and its place in the ledger.
struct Held {
    task: Task,
    run: RunNumber,
}

impl Worker {
    /// Works until it is told to stop, and what it stalled with is tried.
    pub(crate) async fn work(self, mut luck: Luck) {
        let mut stalled = tokio::task::JoinSet::new();
        while !self.ledger.workers_stop.load(Ordering::Relaxed) {
            let held = self.claim().await;
            let mut tasks = Vec::new();
            for held in held {
                let plan = Plan::any(&mut luck, &held.task);
                let takes = Duration::from_millis(luck.within(0..30));
                match plan {
                    Plan::Stall => drop(stalled.spawn(self.clone().stall(held))),
                    plan => tasks.push(self.run(held, plan, takes)),
                }
            }
            join_all(tasks).await;
        }
        while stalled.join_next().await.transpose().unwrap().is_some() {}
    }

    async fn claim(&self) -> Vec<Held> {
        let claim = Claim {
            namespace: Namespace::default_namespace(),
            worker: WorkerId::parse("fault").unwrap(),
            instance: WorkerInstanceId::parse(format!("fault-{}", self.number)).unwrap(),
            incarnation: None,
            want: Want {
                lanes: vec![LaneId::default_lane()],
                lane_order: LaneOrder::Strict,
                capabilities: CapabilitySet::default(),
                max: TASKS_MAX,
                lease_ttl: Some(ff_core::time::Duration::from_secs(LEASE_TTL.as_secs())),
            },
            wait: WAIT,
        };
        let (tasks, claimed) = insist(&self.ledger, || self.engine.claim(claim.clone())).await;
        let tasks = tasks.unwrap_or_else(|rejection| {
            self.ledger.note_oddity("a claim", None, &rejection);
            Vec::new()
        });
        tasks.into_iter().map(|task| self.hold(task, claimed)).collect()
    }

    fn hold(&self, task: Task, claimed: Span) -> Held {
        let run = self.ledger.note_claimed(Run {
            id: task.execution_id,
            fence: task.fence,
            claimed,
            renewed: None,
            // It was leased after the claim was asked for.
            believed_until: claimed.asked_at + LEASE_TTL,
            end: None,
        });
        Held { task, run }
    }

    async fn run(&self, held: Held, plan: Plan, takes: Duration) {
        tokio::time::sleep(takes).await;
        match plan {
            Plan::Complete => self.complete(&held).await,
            Plan::RenewAndComplete => {
                if self.renew(&held).await {
                    tokio::time::sleep(takes).await;
                    self.complete(&held).await;
                }
            }
            Plan::GiveBack => self.give_back(&held).await,
            Plan::Stall => self.clone().stall(held).await,
        }
    }

    async fn stall(self, held: Held) {
        tokio::time::sleep(2 * LEASE_TTL).await;
        self.complete(&held).await;
    }

    async fn complete(&self, held: &Held) {
        let command = Complete {
            fence: Some(held.task.fence),
            result: None,
            ..Complete::default()
        };
        let command = On::new(held.task.execution_id, command);
        let (answer, span) = insist(&self.ledger, || self.engine.complete(command.clone())).await;
        let end = match answer {
            Ok(_) => End::Completed(span),
            Err(rejection) => self.refused(held, &rejection, span),
        };
        self.ledger.note_end(held.run, end);
    }

    async fn renew(&self, held: &Held) -> bool {
        let command = Renew {
            fence: Some(held.task.fence),
            ttl: None,
            doing: Vec::new(),
        };
        let command = On::new(held.task.execution_id, command);
        let (answer, span) = insist(&self.ledger, || self.engine.renew(command.clone())).await;
        match answer {
            Ok(_) => self.ledger.note_renewed(held.run, span, span.asked_at + LEASE_TTL),
            Err(rejection) => {
                let end = self.refused(held, &rejection, span);
                self.ledger.note_end(held.run, end);
                return false;
            }
        }
        true
    }

    async fn give_back(&self, held: &Held) {
        let command = Release {
            fence: Some(held.task.fence),
            ..Release::default()
        };
        let command = On::new(held.task.execution_id, command);
        let (answer, span) = insist(&self.ledger, || self.engine.release(command.clone())).await;
        let end = match answer {
            Ok(_) => End::GivenBack(span),
            Err(rejection) => match self.refused(held, &rejection, span) {
                End::Refused(code, span) if is_fenced(code) => End::PerhapsGivenBack(code, span),
                end => end,
            },
        };
        self.ledger.note_end(held.run, end);
    }

    /// Being told that a task is somebody else's is part of the game; anything else is not.
    fn refused(&self, held: &Held, rejection: &Rejection, span: Span) -> End {
        if rejection.code == Code::ExecutionNotFound {
            self.ledger.note_missed(held.task.execution_id, span);
        } else if !is_fenced(rejection.code) {
            self.ledger
                .note_oddity("a worker", Some(held.task.execution_id), rejection);
        }
        End::Refused(rejection.code, span)
    }
}

impl Plan {
    /// Nobody stalls with what was handed out before: everything ends soon.
    fn any(luck: &mut Luck, task: &Task) -> Self {
        match luck.within(0..100) {
            0..3 if task.fence.lease_epoch == 1 => Plan::Stall,
            3..9 => Plan::GiveBack,
            9..30 => Plan::RenewAndComplete,
            _ => Plan::Complete,
        }
    }
}

/// Whether this says that the caller does not have the lease.
pub(crate) const fn is_fenced(code: Code) -> bool {
    matches!(
        code,
        Code::StaleLease | Code::LeaseExpired | Code::NoActiveLease | Code::ExecutionNotActive
    )
}
