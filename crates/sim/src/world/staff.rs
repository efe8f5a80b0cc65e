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
    seats: Mutex<Vec<Seat>>,
}

/// One process slot.
struct Seat {
    actor: Actor,
    number: usize,
    process: ProcessId,
}

impl Staff {
    /// Starts a worker.
    pub(crate) fn hire(&self, actor: Actor, number: usize) {
        let process = start(&actor, number);
        self.seats().push(Seat { actor, number, process });
    }

    /// Kills a worker with everything it holds.
    pub(crate) fn crash_one(&self, luck: &Luck) {
        let seats = self.seats();
        let Some(seat) = luck.pick(&seats) else { return };
        let stage = &seat.actor.stage;
        if stage.executor.is_alive(seat.process) {
            stage.tally().strike(Fault::WorkerCrash);
            stage.trace.note(|| format!("        {} is killed", seat.actor.name));
            stage.executor.kill(seat.process);
        }
    }

    /// Starts again whoever died. It remembers nothing.
    pub(crate) fn restart_dead(&self) {
        for seat in self.seats().iter_mut() {
            if !seat.actor.stage.executor.is_alive(seat.process) {
                seat.process = start(&seat.actor, seat.number);
            }
        }
    }

    fn seats(&self) -> MutexGuard<'_, Vec<Seat>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn start(actor: &Actor, number: usize) -> ProcessId {
    let process = actor.stage.executor.start_process();
    let worker = Worker::new(actor.clone(), number);
    actor.stage.executor.spawn(process, Box::pin(worker.work()));
    process
}
