//! Workers: they claim, work, finish, stall, die and come back with fences that are worth nothing any more.
//!
//! | file | what |
//! |---|---|
//! | `claims` | the four ways to get a task |
//! | `work` | what is done under a lease that is kept |
//! | `steps` | what handlers record, alone and with whatever ends a lease |
//! | `finish` | what ends a lease |
//! | `exchange` | the one call that does all of it |
//! | `ghost` | acting under a lease that is over |

mod claims;
mod exchange;
mod finish;
mod ghost;
mod spawn;
mod steps;
mod work;

use ff_core::capability::CapabilitySet;
use ff_core::command::claim::Task;
use ff_core::command::worker::{DrainWorker, Heartbeat, NamedInstance, RegisterWorker, UndrainWorker, WorkerLoad};
use ff_core::id::{BudgetId, ExecutionId, FlowId, WaitpointId};
use ff_core::name::{Namespace, WorkerId, WorkerInstanceId};
use ff_core::payload::Payload;
use ff_core::record::{Fence, Incarnation};
use ff_core::time::Duration;

use super::actor::{Actor, call};
use super::board::Phase;
use super::names;
use crate::invariants::Act;
use crate::store::Fault;

/// Tasks a worker holds at the same time.
const TASKS_MAX: usize = 3;

/// One process of a worker.
pub(crate) struct Worker {
    actor: Actor,
    worker: WorkerId,
    instance: WorkerInstanceId,
    incarnation: Incarnation,
    namespace: Namespace,
    capabilities: CapabilitySet,
    tasks: Vec<Held>,
}

/// A task its worker believes to have.
#[derive(Clone, Debug)]
struct Held {
    id: ExecutionId,
    fence: Fence,
    flow: Option<FlowId>,
    /// Waitpoints it handed out.
    pending: Vec<WaitpointId>,
    /// It ran before, and was suspended or taken from somebody.
    goes_on: bool,
    /// Its policy's budgets are not told; some budget is charged.
    budget: Option<BudgetId>,
}

impl Held {
    /// What comes of the task; the same however often it is completed under one lease.
    fn result(&self) -> Option<Payload> {
        let lease = self.fence.lease_id.expose();
        lease
            .as_u128()
            .is_multiple_of(2)
            .then(|| Payload::binary(lease.as_bytes().iter().rev().copied().collect::<Vec<u8>>()))
    }
}

impl Worker {
    /// A process start of worker `number`.
    pub(crate) fn new(actor: Actor, number: usize) -> Self {
        let luck = &actor.luck;
        let namespace = if number == 1 {
            names::NAMESPACES[1]
        } else {
            names::NAMESPACES[0]
        };
        Self {
            worker: names::worker(&format!("w{number}")),
            instance: names::instance(&format!("w{number}-1")),
            incarnation: Incarnation(luck.uuid()),
            namespace: names::namespace(namespace),
            capabilities: names::offered(number / 2, luck),
            tasks: Vec::new(),
            actor,
        }
    }

    /// A worker's whole life.
    pub(crate) async fn work(mut self) {
        self.register().await;
        loop {
            match self.actor.board.phase() {
                Phase::Storm => self.do_something().await,
                Phase::Tidy => self.do_everything().await,
                Phase::Rest => return,
            }
        }
    }

    async fn do_something(&mut self) {
        let luck = self.actor.luck.clone();
        match luck.below(100) {
            0 => self.stall().await,
            1..=3 => self.check_in().await,
            4..=10 => self.haunt().await,
            11..=15 => self.exchange().await,
            _ if self.tasks.len() < TASKS_MAX && luck.one_in(3) || self.tasks.is_empty() => self.claim().await,
            _ => self.work_on_something().await,
        }
        self.actor.pause(0, 300).await;
    }

    /// Finishes whatever there is, and does nothing else.
    async fn do_everything(&mut self) {
        for held in std::mem::take(&mut self.tasks) {
            self.complete(&held).await;
        }
        // Whoever works for one tenant only would leave the work of the other where it is.
        for name in names::NAMESPACES {
            self.namespace = names::namespace(name);
            self.capabilities = names::all_capabilities();
            self.claim_plainly(Duration::from_millis(500)).await;
            for held in std::mem::take(&mut self.tasks) {
                self.complete(&held).await;
            }
        }
        self.actor.pause(50, 300).await;
    }

    async fn work_on_something(&mut self) {
        let place = self.actor.luck.index(self.tasks.len());
        let Some(held) = self.tasks.get(place).cloned() else {
            return;
        };
        let keeps = if held.goes_on && self.actor.luck.one_in(6) {
            self.go_on_at_length(&held).await
        } else if self.actor.luck.one_in(3) {
            self.finish(&held).await
        } else {
            self.go_on(place, &held).await
        };
        if !keeps {
            let held = self.tasks.remove(place);
            self.actor.board.known().old_fences.push((held.id, held.fence));
        }
    }

    /// Does nothing for longer than leases last, and goes on as if nothing had happened.
    async fn stall(&self) {
        self.actor.stage.tally().strike(Fault::WorkerStall);
        self.actor.pause(8_000, 60_000).await;
    }

    async fn register(&self) {
        let command = RegisterWorker {
            namespace: self.namespace.clone(),
            worker: self.worker.clone(),
            instance: self.instance.clone(),
            incarnation: self.incarnation,
            lanes: names::LANES.map(names::lane).into(),
            capabilities: self.capabilities.clone(),
            ttl: Some(Duration::from_secs(20)),
            load: WorkerLoad::default(),
        };
        call!(self.actor, register_worker, command).await;
    }

    /// Says that it is there, or registers anew, or leaves for a moment.
    async fn check_in(&self) {
        let command = NamedInstance {
            namespace: self.namespace.clone(),
            process: Heartbeat {
                instance: self.instance.clone(),
                incarnation: self.incarnation,
            },
        };
        match self.actor.luck.below(5) {
            0 => drop(call!(self.actor, deregister_worker, command).await),
            1 => self.register().await,
            2 => self.be_drained().await,
            _ => drop(call!(self.actor, heartbeat, command.into()).await),
        }
    }

    /// An operator lets it finish what it has, and thinks better of it.
    async fn be_drained(&self) {
        let drain = DrainWorker {
            namespace: self.namespace.clone(),
            instance: self.instance.clone(),
            reason: "it is to be replaced".to_owned(),
        };
        call!(self.actor, drain_worker, drain).await;
        self.actor.pause(0, 2_000).await;
        let undrain = UndrainWorker {
            namespace: self.namespace.clone(),
            instance: self.instance.clone(),
        };
        call!(self.actor, undrain_worker, undrain).await;
    }

    /// The fence the worker shows: its own. Where fences are not looked at, whichever opens the door.
    fn shown(&self, held: &Held) -> Option<Fence> {
        let live = || self.actor.stage.watch.live_fence(held.id);
        Some(held.fence)
            .filter(|_| !self.actor.board.fences_are_ignored)
            .or_else(live)
    }

    /// A task was handed to this worker.
    fn take(&mut self, task: &Task) {
        self.actor.took(task, &self.instance);
        let budget = self.some_budget();
        self.tasks.push(Held {
            id: task.execution_id,
            fence: task.fence,
            flow: task.flow_id,
            pending: Vec::new(),
            goes_on: task.resumed.is_some() || task.attempt_index > 0,
            budget,
        });
    }
}

impl Worker {
    /// A budget to charge, mostly one of its own namespace.
    fn some_budget(&self) -> Option<BudgetId> {
        let luck = &self.actor.luck;
        let mut budgets = self.actor.board.known().budgets.clone();
        if !luck.one_in(6) {
            budgets.retain(|(of, _)| *of == self.namespace);
        }
        luck.pick(&budgets).map(|(_, id)| *id)
    }
}

impl Actor {
    /// Somebody was told that it has a task now.
    pub(crate) fn took(&self, task: &Task, instance: &WorkerInstanceId) {
        self.board.learn(task.execution_id, task.flow_id);
        self.stage.watch.brought(task);
        self.stage
            .watch
            .told(task.execution_id, task.fence, Act::Took, Some(instance));
    }
}
