//! Engine replicas: they share the store and nothing else, die at any moment, and are started again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_backend::Backend;
use ff_core::fabric::{Fabric, Result};
use futures::future::{BoxFuture, Either, select};
use tokio::sync::oneshot;

use super::actor::Sending;
use crate::executor::{ProcessId, SimHost};
use crate::luck::Luck;
use crate::stage::Stage;
use crate::store::{Fault, Faulty, Weather};

/// How long a caller waits for an answer.
const PATIENCE: Duration = Duration::from_secs(45);
/// How long a replica that has stopped goes on answering.
const LAST_MOMENTS: Duration = Duration::from_secs(1);
/// Calls in which the caller is one that sees only one namespace: one in this many.
const BOUND_ONE_IN: u64 = 40;

/// What a caller sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sees {
    /// Every namespace, always.
    Everything,
    /// Now and then only the first one.
    OneNamespaceAtTimes,
}

/// Makes a replica of a store and a host, and starts what runs in its background.
pub(crate) type Boot = Box<dyn Fn(Arc<dyn Backend>, Arc<SimHost>) -> Running + Send + Sync>;

/// A running engine: one handle that sees everything, one that sees only the first namespace.
#[derive(Clone)]
pub(crate) struct Running {
    pub(crate) fabric: Arc<dyn Fabric>,
    pub(crate) bound: Arc<dyn Fabric>,
    /// Ends what runs in its background, as a process does that was asked to end.
    pub(crate) stop: Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>,
}

/// All replicas.
pub(crate) struct Replicas {
    stage: Stage,
    weather: Arc<Weather>,
    store: Arc<dyn Backend>,
    boot: Boot,
    luck: Luck,
    slots: Mutex<Vec<ReplicaSlot>>,
}

/// The place of one replica.
struct ReplicaSlot {
    process: ProcessId,
    running: Running,
}

impl Replicas {
    /// Starts `count` replicas over `store`.
    pub(crate) fn start(
        stage: Stage,
        weather: Arc<Weather>,
        store: Arc<dyn Backend>,
        boot: Boot,
        (luck, count): (Luck, usize),
    ) -> Self {
        let replicas = Self {
            stage,
            weather,
            store,
            boot,
            luck,
            slots: Mutex::default(),
        };
        for _ in 0..count {
            let slot = replicas.slot();
            replicas.slots().push(slot);
        }
        replicas
    }

    fn slot(&self) -> ReplicaSlot {
        let executor = &self.stage.executor;
        let process = executor.start_process();
        let host = SimHost::new(executor.clone(), process, self.luck.fork());
        let faulty = Faulty::new(
            Arc::clone(&self.store),
            self.stage.clone(),
            Arc::clone(&self.weather),
            process,
            self.luck.fork(),
        );
        self.stage.trace.note(|| format!("{process:?} starts"));
        let running = (self.boot)(Arc::new(faulty), Arc::new(host));
        ReplicaSlot { process, running }
    }

    /// Kills a replica in the middle of whatever it does.
    pub(crate) fn crash_one(&self, luck: &Luck) {
        let process = {
            let slots = self.slots();
            luck.pick(&slots).map(|slot| slot.process)
        };
        if let Some(process) = process.filter(|process| self.stage.executor.is_alive(*process)) {
            self.stage.tally().strike(Fault::ReplicaCrash);
            self.stage.trace.note(|| format!("        {process:?} is killed"));
            self.stage.executor.kill(process);
        }
    }

    /// Asks a replica to end. It goes on answering for a moment, and is gone then.
    pub(crate) fn stop_one(&self, luck: &Luck) {
        let chosen = {
            let slots = self.slots();
            luck.pick(&slots)
                .map(|slot| (slot.process, Arc::clone(&slot.running.stop)))
        };
        let Some((process, stop)) = chosen.filter(|(process, _)| self.stage.executor.is_alive(*process)) else {
            return;
        };
        self.stage.trace.note(|| format!("        {process:?} is asked to end"));
        let executor = self.stage.executor.clone();
        let end = async move {
            stop().await;
            executor.sleep(LAST_MOMENTS).await;
            executor.kill(process);
        };
        self.stage.executor.spawn(process, Box::pin(end));
    }

    /// Starts again whoever died.
    pub(crate) fn restart_dead(&self) {
        let dead: Vec<usize> = {
            let slots = self.slots();
            let is_dead =
                |(place, slot): (usize, &ReplicaSlot)| (!self.stage.executor.is_alive(slot.process)).then_some(place);
            slots.iter().enumerate().filter_map(is_dead).collect()
        };
        for place in dead {
            let slot = self.slot();
            self.slots()[place] = slot;
        }
    }

    /// Calls one replica; `None` when no answer comes.
    pub(crate) async fn call<C, T>(
        &self,
        (luck, sees): (&Luck, Sees),
        command: C,
        send: Sending<C, T>,
    ) -> Option<Result<T>>
    where
        C: Send + 'static,
        T: Send + 'static,
    {
        let (process, fabric) = self.pick(luck, sees)?;
        let (sender, receiver) = oneshot::channel();
        let lost = self.weather.loses_answer(luck);
        if lost {
            self.stage.tally().strike(Fault::AnswerLost);
        }
        let serve = async move {
            let answer = send(fabric, command).await;
            if !lost {
                // A caller that went away does not want its answer.
                let _ = sender.send(answer);
            }
        };
        self.stage.executor.spawn(process, Box::pin(serve));
        match select(receiver, self.stage.executor.sleep(PATIENCE)).await {
            Either::Left((answer, _)) => answer.ok(),
            Either::Right(_) => None,
        }
    }

    fn pick(&self, luck: &Luck, sees: Sees) -> Option<(ProcessId, Arc<dyn Fabric>)> {
        let slots = self.slots();
        let slot = luck.pick(&slots)?;
        let Running { fabric, bound, .. } = &slot.running;
        let bound_at_times = sees == Sees::OneNamespaceAtTimes && self.weather.is_bad();
        let caller = if luck.one_in(BOUND_ONE_IN) && bound_at_times {
            bound
        } else {
            fabric
        };
        let found = (slot.process, Arc::clone(caller));
        self.stage.executor.is_alive(found.0).then_some(found)
    }

    fn slots(&self) -> MutexGuard<'_, Vec<ReplicaSlot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
