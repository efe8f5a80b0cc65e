//! One thread, many tasks, and an order that follows from the seed.
//!
//! Tasks are futures. Whenever several could go on, luck says which one does; when none can, time jumps to the next one that
//! sleeps. A task belongs to a process, and a killed process takes all its tasks with it, wherever they stand.

mod host;
mod ready;
mod timers;

pub use host::SimHost;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures::future::BoxFuture;

use self::ready::{Ready, TaskWaker};
use self::timers::Timers;
use crate::luck::Luck;

/// Turns without any time passing after which the simulation is said to spin.
const SPINNING: u64 = 200_000;

/// Names a task; the later it was spawned, the higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TaskId(u64);

/// Names one start of a process; never used again once it is dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessId(u64);

/// Runs tasks. Cheap to clone.
#[derive(Clone)]
pub struct Executor {
    inner: Arc<Inner>,
}

struct Inner {
    state: Mutex<State>,
    ready: Arc<Ready>,
    timers: Arc<Timers>,
    luck: Luck,
}

#[derive(Default)]
struct State {
    tasks: BTreeMap<TaskId, Task>,
    alive: BTreeSet<ProcessId>,
    spawned: u64,
    started: u64,
    /// Turns since time last passed.
    spins: u64,
}

struct Task {
    process: ProcessId,
    future: BoxFuture<'static, ()>,
    waker: Waker,
}

/// What a turn came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// A task went on.
    Polled,
    /// Nobody could go on, so time passed.
    Waited,
    /// Nobody can go on and nobody sleeps.
    Idle,
    /// Tasks went on and on without any time passing.
    Spinning,
}

impl Executor {
    /// Nothing runs yet, and the clock stands at zero.
    pub fn new(luck: Luck) -> Self {
        Self {
            inner: Arc::new(Inner {
                state: Mutex::default(),
                ready: Arc::default(),
                timers: Arc::default(),
                luck,
            }),
        }
    }

    /// A new process without tasks.
    pub fn start_process(&self) -> ProcessId {
        let mut state = self.state();
        state.started += 1;
        let process = ProcessId(state.started);
        state.alive.insert(process);
        process
    }

    /// Whether a process lives.
    pub fn is_alive(&self, process: ProcessId) -> bool {
        self.state().alive.contains(&process)
    }

    /// Ends a process: its tasks are dropped where they stand. One that is being polled is dropped when it returns.
    pub fn kill(&self, process: ProcessId) {
        let doomed: Vec<Task> = {
            let mut state = self.state();
            state.alive.remove(&process);
            let of_process = |(id, task): (&TaskId, &Task)| (task.process == process).then_some(*id);
            let doomed: Vec<TaskId> = state.tasks.iter().filter_map(of_process).collect();
            doomed.iter().filter_map(|id| state.tasks.remove(id)).collect()
        };
        // Outside of the lock: what is dropped may wake others.
        drop(doomed);
    }

    /// Ends every process. Tasks know the executor they run on, so without this neither would ever be dropped.
    pub fn end(&self) {
        let doomed = {
            let mut state = self.state();
            state.alive.clear();
            std::mem::take(&mut state.tasks)
        };
        drop(doomed);
    }

    /// Runs `future` in a process; in a dead one it never begins.
    pub fn spawn(&self, process: ProcessId, future: BoxFuture<'static, ()>) {
        let mut state = self.state();
        if !state.alive.contains(&process) {
            return;
        }
        state.spawned += 1;
        let id = TaskId(state.spawned);
        let waker = Waker::from(Arc::new(TaskWaker {
            id,
            ready: Arc::clone(&self.inner.ready),
        }));
        let task = Task { process, future, waker };
        state.tasks.insert(id, task);
        self.inner.ready.insert(id);
    }

    /// Lets one task go on, or time pass.
    pub fn turn(&self) -> Turn {
        if let Some(id) = self.inner.ready.take(&self.inner.luck) {
            self.poll(id);
            let mut state = self.state();
            state.spins += 1;
            return if state.spins > SPINNING {
                Turn::Spinning
            } else {
                Turn::Polled
            };
        }
        self.state().spins = 0;
        if self.inner.timers.jump() {
            Turn::Waited
        } else {
            Turn::Idle
        }
    }

    fn poll(&self, id: TaskId) {
        let taken = self.state().tasks.remove(&id);
        let Some(mut task) = taken else { return };
        let waker = task.waker.clone();
        let polled = task.future.as_mut().poll(&mut Context::from_waker(&waker));
        let mut state = self.state();
        if polled == Poll::Pending && state.alive.contains(&task.process) {
            state.tasks.insert(id, task);
            return;
        }
        drop(state);
        drop(task);
    }

    /// Time since the beginning.
    pub fn elapsed(&self) -> Duration {
        self.inner.timers.elapsed()
    }

    /// Calls `listener` with the new time whenever time passes.
    pub fn on_time(&self, listener: impl Fn(Duration) + Send + Sync + 'static) {
        self.inner.timers.on_time(Box::new(listener));
    }

    /// Completes when this much time has passed.
    pub fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Timers::sleep(&self.inner.timers, duration)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets others go on first.
pub async fn yield_now() {
    let mut yielded = false;
    futures::future::poll_fn(|context| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
