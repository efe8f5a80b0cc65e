//! The worker processes of a world.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::actor::Actor;
use super::worker::Worker;
use crate::executor::ProcessId;
use crate::luck::Luck;
use crate::store::Fault;

/// Everybody who works.
#[derive(Default)]
pub(crate) struct Staff {
    slots: Mutex<Vec<WorkerSlot>>,
}

/// One process slot.
struct WorkerSlot {
    actor: Actor,
    number: usize,
    process: ProcessId,
}

impl Staff {
    /// Starts a worker.
    pub(crate) fn hire(&self, actor: Actor, number: usize) {
        let process = start(&actor, number);
        self.slots().push(WorkerSlot { actor, number, process });
    }

    /// Kills a worker with everything it holds.
    pub(crate) fn crash_one(&self, luck: &Luck) {
        let slots = self.slots();
        let Some(slot) = luck.pick(&slots) else { return };
        let stage = &slot.actor.stage;
        if stage.executor.is_alive(slot.process) {
            stage.tally().strike(Fault::WorkerCrash);
            stage.trace.note(|| format!("        {} is killed", slot.actor.name));
            stage.executor.kill(slot.process);
        }
    }

    /// Starts again whoever died. It remembers nothing.
    pub(crate) fn restart_dead(&self) {
        for slot in self.slots().iter_mut() {
            if !slot.actor.stage.executor.is_alive(slot.process) {
                slot.process = start(&slot.actor, slot.number);
            }
        }
    }

    fn slots(&self) -> MutexGuard<'_, Vec<WorkerSlot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn start(actor: &Actor, number: usize) -> ProcessId {
    let process = actor.stage.executor.start_process();
    let worker = Worker::new(actor.clone(), number);
    actor.stage.executor.spawn(process, Box::pin(worker.work()));
    process
}
