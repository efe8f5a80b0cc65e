//! One simulated world: three replicas of the engine over one store, workers, clients and bad weather.
//!
//! | file | what |
//! |---|---|
//! | `replicas`, `engine` | engines that die and are started again |
//! | `actor` | whoever calls them, and calls again when nobody answers |
//! | `client/`, `worker/`, `listener` | what is done |
//! | `storm` | what goes wrong beside the store's own faults |
//! | `finale` | the faults stop, and everything must come to an end |
//! | `board`, `names`, `policies`, `told` | what everybody knows, what things are called, what answers say |

mod actor;
mod board;
mod client;
mod engine;
mod finale;
mod listener;
mod names;
mod policies;
mod replicas;
mod staff;
mod storm;
mod told;
mod worker;

pub use names::NAMESPACES;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ff_backend::Backend;
use ff_backend::memory::MemoryBackend;
use ff_core::partition::PartitionCounts;
use ff_core::time::Timestamp;

use self::actor::Actor;
use self::board::{Board, Phase};
use self::finale::Finale;
use self::listener::Listener;
use self::replicas::{Replicas, Sees};
use self::staff::Staff;
use self::storm::Storm;
use crate::executor::{Executor, Turn};
use crate::invariants::{Violation, Watch};
use crate::luck::Luck;
use crate::run::{Options, Report};
use crate::stage::Stage;
use crate::store::{Observed, Sabotage, Saboteur, StoreClock, Weather};

/// Engine replicas.
const REPLICAS: usize = 3;
/// Workers; each talks to any replica.
const WORKERS: usize = 6;
/// Clients.
const CLIENTS: usize = 4;
/// Largest payload, small so that one that is too large costs little.
pub(crate) const PAYLOAD_BYTES_MAX: usize = 1_024;
/// Steps an execution may have, few so that some have too many.
const STEPS_MAX: u64 = 4;
/// Lines a feed keeps, few so that readers fall behind.
const FEED_LINES_MAX: usize = 60;
/// How long the holder of an expired lease keeps its execution, in half of the worlds.
const RECLAIM_GRACE: ff_core::time::Duration = ff_core::time::Duration::from_millis(1_500);
/// Calls between two looks at the whole store.
const STEPS_BETWEEN_CHECKS: u64 = 50;
/// The longest a world may go on.
const TOO_LONG: Duration = Duration::from_secs(4 * 3_600);

/// Partitions of the store: few, so that things meet.
fn partition_counts() -> PartitionCounts {
    PartitionCounts::new(4, 2, 2).expect("good counts")
}

/// A world that can be let go.
pub(crate) struct World {
    stage: Stage,
    board: Arc<Board>,
    replicas: Arc<Replicas>,
    weather: Arc<Weather>,
    clock: StoreClock,
    staff: Arc<Staff>,
    luck: Luck,
    over: Arc<AtomicBool>,
}

impl Drop for World {
    fn drop(&mut self) {
        self.stage.executor.end();
    }
}

impl World {
    /// The world of a seed. Everything in it follows from the seed.
    pub(crate) fn new(seed: u64, options: &Options) -> Self {
        let luck = Luck::new(seed);
        let executor = Executor::new(luck.fork());
        let counts = partition_counts();
        let start = Timestamp::from_millis(1_700_000_000_000);
        let memory = Arc::new(MemoryBackend::new(start, counts).with_feed_lines_max(FEED_LINES_MAX));
        let clock = StoreClock::follow(&executor, Arc::clone(&memory));
        let stage = Stage::new(executor, Watch::new(Arc::clone(&memory), counts), options.keep);
        let observed: Arc<dyn Backend> = Arc::new(Observed::new(memory, stage.clone()));
        // Taken in any case: what is sabotaged is the same world as without.
        let saboteurs = luck.fork();
        let store = match options.sabotage {
            Some(sabotage) => Arc::new(Saboteur::new(observed, sabotage, saboteurs)),
            None => observed,
        };
        let weather = Arc::new(Weather::default());
        let reclaim_grace = luck.choose([ff_core::time::Duration::ZERO, RECLAIM_GRACE]);
        let replicas = Replicas::start(
            stage.clone(),
            Arc::clone(&weather),
            store,
            Box::new(move |backend, host| engine::boot(backend, host, reclaim_grace)),
            (luck.fork(), REPLICAS),
        );
        Self {
            stage,
            board: Arc::new(Board::new(counts, options.sabotage == Some(Sabotage::NoFence))),
            replicas: Arc::new(replicas),
            weather,
            clock,
            staff: Arc::default(),
            luck,
            over: Arc::default(),
        }
    }

    fn actor(&self, name: &str) -> Actor {
        Actor {
            name: name.into(),
            stage: self.stage.clone(),
            luck: self.luck.fork(),
            replicas: Arc::clone(&self.replicas),
            board: Arc::clone(&self.board),
            sees: Sees::OneNamespaceAtTimes,
        }
    }

    /// Lets it run: a storm of `steps` calls, and then until everything has come to an end.
    pub(crate) fn play(self, seed: u64, steps: u64) -> Report {
        self.people();
        let mut turns = 0;
        let mut checked_at = 0;
        let violation = loop {
            if let Some(violation) = self.stage.watch.violation() {
                break Some(violation);
            }
            if self.over.load(Ordering::Relaxed) {
                break None;
            }
            let done = self.stage.tally().steps;
            if done >= steps && self.board.phase() == Phase::Storm {
                self.end_the_storm();
            }
            if done >= checked_at + STEPS_BETWEEN_CHECKS {
                checked_at = done;
                self.stage.watch.check_all();
            }
            turns += 1;
            if let Some(violation) = self.turn() {
                break Some(violation);
            }
        };
        Report {
            seed,
            turns,
            violation,
            tally: self.stage.tally().clone(),
            trace: self.stage.trace.take(),
        }
    }

    /// Somebody does something.
    fn turn(&self) -> Option<Violation> {
        let stuck = match self.stage.executor.turn() {
            Turn::Polled | Turn::Waited if self.stage.executor.elapsed() < TOO_LONG => return None,
            Turn::Polled | Turn::Waited => "the world never comes to rest",
            Turn::Idle => "everybody waits for somebody else",
            Turn::Spinning => "somebody goes on and on without any time passing",
        };
        Some(Violation {
            invariant: "the world comes to rest",
            detail: stuck.to_owned(),
        })
    }

    /// Clients, workers and the weather.
    fn people(&self) {
        let process = self.stage.executor.start_process();
        for number in 0..CLIENTS {
            let client = self.actor(&format!("client {number}"));
            self.stage.executor.spawn(process, Box::pin(client.be_a_client()));
        }
        for number in 0..WORKERS {
            self.staff.hire(self.actor(&format!("worker {number}")), number);
        }
        let listener = Listener::new(Actor {
            sees: Sees::Everything,
            ..self.actor("listener")
        });
        self.stage.executor.spawn(process, Box::pin(listener.listen()));
        let storm = Storm {
            actor: self.actor("storm"),
            staff: Arc::clone(&self.staff),
            clock: self.clock.clone(),
        };
        self.stage.executor.spawn(process, Box::pin(storm.rage()));
    }

    fn end_the_storm(&self) {
        self.weather.clear_up();
        self.board.enter(Phase::Tidy);
        self.replicas.restart_dead();
        self.staff.restart_dead();
        let finale = Finale {
            actor: self.actor("caretaker"),
            clock: self.clock.clone(),
            over: Arc::clone(&self.over),
        };
        let process = self.stage.executor.start_process();
        self.stage.executor.spawn(process, Box::pin(finale.tidy_up()));
    }
}
