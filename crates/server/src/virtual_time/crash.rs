//! Workers that crash once a certain step is recorded: what they asked for is done, they do not hear of it, and their leases are over.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use ff_core::command::claim::Finish;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::types::*;
use ff_core::fabric::{Fabric, Result};
use ff_core::id::ExecutionId;
use ff_core::name::{StepKey, WorkerInstanceId};
use ff_core::{argument, outcome};
use ff_engine::{Engine, VirtualTime};

/// What tests do to a server. Clones are the same.
#[derive(Clone)]
pub(crate) struct Tested {
    pub(crate) time: VirtualTime,
    /// Steps after which a worker is to crash.
    crashes: Arc<Mutex<Vec<StepKey>>>,
}

impl Tested {
    pub(crate) fn new(time: VirtualTime) -> Self {
        Self {
            time,
            crashes: Arc::default(),
        }
    }

    /// Lets the worker crash that records this step next. The steps after which one is still to crash.
    pub(crate) fn crash_after(&self, step: Option<StepKey>) -> Vec<StepKey> {
        let mut crashes = self.crashes();
        crashes.extend(step);
        crashes.clone()
    }

    /// The interface of `engine`, for callers that may crash.
    pub(crate) fn fabric(&self, engine: Engine) -> Arc<dyn Fabric> {
        Arc::new(Watched {
            engine,
            tested: self.clone(),
        })
    }

    fn crashes(&self) -> MutexGuard<'_, Vec<StepKey>> {
        self.crashes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An engine that sees what its callers record.
struct Watched {
    engine: Engine,
    tested: Tested,
}

impl Watched {
    /// Who holds an execution, if that is about to record a step that somebody waits for.
    async fn holder(&self, id: ExecutionId, steps: &[StepKey]) -> Option<WorkerInstanceId> {
        let is_awaited = self.tested.crashes().iter().any(|step| steps.contains(step));
        match is_awaited {
            true => self.tested.time.engine().get_execution(id).await.ok()?.worker_instance,
            false => None,
        }
    }

    /// The answer to a worker that has recorded these steps, unless it is to crash now.
    async fn unless_crashed<T>(&self, worker: &WorkerInstanceId, steps: &[StepKey], answer: T) -> Result<T> {
        let is_due = {
            let mut crashes = self.tested.crashes();
            let before = crashes.len();
            for step in steps {
                // Each crash comes once, also if one step is awaited twice.
                if let Some(place) = crashes.iter().position(|awaited| awaited == step) {
                    crashes.remove(place);
                }
            }
            crashes.len() < before
        };
        if !is_due {
            return Ok(answer);
        }
        self.tested.time.crash_worker(worker).await?;
        Err(crashed())
    }
}

fn crashed() -> Rejection {
    Code::Unavailable.because("a test lets this worker crash here: what it asked for is done, and its leases are over")
}

/// The steps that a call records under a lease.
trait Records {
    fn steps(&self) -> Vec<StepKey>;
}

macro_rules! records {
    ($($command:ty),+; and a step of its own: $($pausing:ty),+) => {
        $(impl Records for $command {
            fn steps(&self) -> Vec<StepKey> {
                self.steps.iter().map(|step| step.key.clone()).collect()
            }
        })+
        $(impl Records for $pausing {
            fn steps(&self) -> Vec<StepKey> {
                self.steps.iter().map(|step| &step.key).chain(&self.step).cloned().collect()
            }
        })+
    };
}

records!(RecordSteps, Complete, Fail, Release, WaitChildren; and a step of its own: DelayUntil, Suspend);

impl Records for SpawnChildren {
    fn steps(&self) -> Vec<StepKey> {
        self.children.iter().map(|child| child.step.clone()).collect()
    }
}

impl Records for Finish {
    fn steps(&self) -> Vec<StepKey> {
        match self {
            Self::Complete(command) => command.steps(),
            Self::Fail(command) => command.steps(),
            Self::Release(command) => command.steps(),
            Self::Delay(command) => command.steps(),
            Self::WaitChildren(command) => command.steps(),
            Self::Suspend(command) => command.steps(),
        }
    }
}

/// What an exchange would record, by item.
struct Told {
    finished: Vec<Vec<StepKey>>,
    steps: Vec<Vec<StepKey>>,
}

impl Told {
    fn of(exchange: &Exchange) -> Self {
        Self {
            finished: exchange.finished.iter().map(|item| item.command.steps()).collect(),
            steps: exchange.steps.iter().map(|item| item.command.steps()).collect(),
        }
    }

    /// What it has recorded.
    fn recorded(self, exchanged: &Exchanged) -> Vec<StepKey> {
        let finished = self
            .finished
            .into_iter()
            .zip(exchanged.results.iter().map(Result::is_ok));
        let steps = self.steps.into_iter().zip(exchanged.steps.iter().map(Result::is_ok));
        let recorded = finished.chain(steps).filter(|(_, is_ok)| *is_ok);
        recorded.flat_map(|(steps, _)| steps).collect()
    }
}

macro_rules! watched {
    ($($noun:ident { $(
        $(#[doc = $doc:literal])+
        $name:ident: $method:ident $path:literal, $who:ident $(or $holder:ident)?, $body:ident, $take:tt => $give:tt;
    )+ })+) => {
        #[async_trait]
        impl Fabric for Watched {
            $($(
                async fn $name(&self, command: argument!($take)) -> Result<outcome!($give)> {
                    call!($name, self, command)
                }
            )+)+
        }
    };
}

/// Calls an operation, and looks at what those do that record steps.
macro_rules! call {
    (exchange, $self:ident, $command:ident) => {{
        let (told, worker) = (Told::of(&$command), $command.instance.clone());
        let exchanged = $self.engine.exchange($command).await?;
        $self.unless_crashed(&worker, &told.recorded(&exchanged), exchanged).await
    }};
    (record_steps, $($rest:tt)+) => { call!(fenced record_steps, $($rest)+) };
    (spawn_children, $($rest:tt)+) => { call!(fenced spawn_children, $($rest)+) };
    (complete, $($rest:tt)+) => { call!(fenced complete, $($rest)+) };
    (fail, $($rest:tt)+) => { call!(fenced fail, $($rest)+) };
    (release, $($rest:tt)+) => { call!(fenced release, $($rest)+) };
    (delay, $($rest:tt)+) => { call!(fenced delay, $($rest)+) };
    (wait_children, $($rest:tt)+) => { call!(fenced wait_children, $($rest)+) };
    (suspend, $($rest:tt)+) => { call!(fenced suspend, $($rest)+) };
    (fenced $name:ident, $self:ident, $command:ident) => {{
        let steps = $command.command.steps();
        // Some of these end the lease: it is asked before who has it.
        let worker = $self.holder($command.id, &steps).await;
        let answer = $self.engine.$name($command).await?;
        match worker {
            Some(worker) => $self.unless_crashed(&worker, &steps, answer).await,
            None => Ok(answer),
        }
    }};
    ($name:ident, $self:ident, $command:ident) => {
        $self.engine.$name($command).await
    };
}

ff_core::operations!(watched);
