//! What a handler talks to the engine through.

mod approval;
mod awaited;
mod budget;
mod callback;
mod detached;
mod digest;
mod frames;
mod gate;
mod gathered;
mod going_on;
mod journal;
mod key;
mod probe;
mod recording;
mod signalled;
mod sleep;
mod spawn;
mod spawning;
mod step;
mod step_run;
mod stop;
mod submit;
mod wait;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Mutex};

use ff_core::id::ExecutionId;
use ff_core::payload::Payload;
use ff_core::policy::FallbackTier;
use ff_core::record::Tags;
use ff_core::time::Timestamp;

pub use self::approval::{Approval, Decided};
use self::budget::Closed;
pub use self::budget::OnBreach;
pub use self::callback::{Callback, CallbackWait, CallbackWaitUpTo, MakeCallback};
pub use self::frames::FrameWriter;
use self::gate::Gate;
pub(crate) use self::gate::Pause;
pub use self::gathered::{WaitAll, WaitAny};
pub(crate) use self::journal::Journal;
use self::key::{Call, Scope};
pub(crate) use self::probe::Probe;
pub use self::sleep::Sleep;
pub use self::spawn::{Child, ChildFailed, Spawn};
use self::spawning::Spawning;
pub use self::step::StepCall;
pub use self::step_run::StepRun;
pub(crate) use self::stop::Halt;
pub use self::stop::Stop;
pub use self::wait::{Wait, WaitUpTo};
use crate::client::Client;
use crate::codec::Codec;
use crate::handler::TaskInfo;
use crate::worker::{Lease, StoreClock};

/// What a handler talks to the engine through: it works in spawned tasks too, until the handler ends.
#[derive(Clone)]
pub struct Ctx {
    run: Arc<Run>,
    scope: Arc<Scope>,
}

/// One run of a handler.
pub(crate) struct Run {
    pub(crate) task: TaskInfo,
    pub(crate) client: Client,
    pub(crate) codec: Arc<dyn Codec>,
    pub(crate) clock: StoreClock,
    pub(crate) gate: Gate,
    pub(crate) journal: Journal,
    pub(crate) lease: Option<Lease>,
    /// Whether short sleeps are slept here; under a clock that somebody moves they would never end.
    pub(crate) sleeps_in_place: bool,
    /// Told what steps do, by tests.
    pub(crate) probe: Option<Arc<dyn Probe>>,
    /// Budgets that this run found used up.
    pub(crate) closed: Closed,
    /// Children that are being started.
    pub(crate) spawning: Spawning,
    /// Whether a child was started in this run.
    pub(crate) spawned: AtomicBool,
    /// Whether every child there was before this run has ended once: one that is open was replayed.
    pub(crate) children_held: bool,
    /// Frames that were put out outside of steps.
    pub(crate) emitted: AtomicU32,
    /// Answers for a run without an engine.
    pub(crate) prepared: Mutex<HashMap<String, Payload>>,
}

impl Run {
    /// A run of a handler without a lease.
    pub(crate) fn new(task: TaskInfo, client: Client, codec: Arc<dyn Codec>) -> Self {
        Self {
            task,
            client,
            codec,
            clock: StoreClock::default(),
            gate: Gate::default(),
            journal: Journal::default(),
            lease: None,
            sleeps_in_place: true,
            probe: None,
            closed: Closed::default(),
            spawning: Spawning::default(),
            spawned: AtomicBool::new(false),
            children_held: false,
            emitted: AtomicU32::new(0),
            prepared: Mutex::default(),
        }
    }
}

impl Ctx {
    pub(crate) fn new(run: Run) -> Self {
        Self {
            run: Arc::new(run),
            scope: Arc::default(),
        }
    }

    /// A branch of the handler, whose steps are named and counted for themselves: `name/fetch#0`.
    #[must_use]
    pub fn scope(&self, name: impl AsRef<str>) -> Self {
        Self {
            run: Arc::clone(&self.run),
            scope: Arc::new(self.scope.branch(name.as_ref())),
        }
    }

    /// Notes a call of something that has a key.
    fn call(&self, name: &str) -> Call {
        self.scope.call(name)
    }

    /// The execution.
    pub fn id(&self) -> ExecutionId {
        self.run.task.id()
    }

    /// Which run of it this is, from 0. Going on after a wait, a sleep or a release is the same run.
    pub fn attempt(&self) -> u32 {
        self.run.task.attempt()
    }

    /// The provider and model to use, where the policy names some.
    pub fn tier(&self) -> Option<&FallbackTier> {
        self.run.task.tier()
    }

    /// The user's labels, as they were when the task was claimed.
    pub fn tags(&self) -> &Tags {
        self.run.task.tags()
    }

    /// When the execution expires, on the store's clock.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.run.task.deadline()
    }

    /// The store's time, as far as the worker knows it.
    pub fn now(&self) -> Timestamp {
        self.run.clock.now()
    }

    /// Everything else that is known of the task.
    pub fn task(&self) -> &TaskInfo {
        &self.run.task
    }

    /// Everything the engine can do. What is called here is no step: it happens again whenever the handler runs again.
    pub fn fabric(&self) -> &Client {
        &self.run.client
    }

    /// Resolves when the handler is to stop, and says why. Without it a handler is dropped where it awaits, five seconds later.
    pub async fn stopped(&self) -> Stop {
        let Some(lease) = &self.run.lease else {
            return std::future::pending().await;
        };
        let mut halt = lease.halt();
        match halt.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(halt)) => halt.stop.clone(),
            // The loop is gone, and with it whoever keeps the lease.
            Ok(None) | Err(_) => Stop::LeaseLost,
        }
    }

    /// Whether the handler is to stop: for code that does not await.
    pub fn is_stopping(&self) -> bool {
        self.stop_now().is_some()
    }

    pub(crate) fn stop_now(&self) -> Option<Stop> {
        let lease = self.run.lease.as_ref()?;
        lease.halt().borrow().as_ref().map(|halt| halt.stop.clone())
    }

    /// Records that the handler has come to its end without: code that was changed may have left them behind.
    pub(crate) fn tell_unused(&self) {
        let unused = self.run.journal.unused();
        if !unused.is_empty() {
            tracing::info!(steps = ?unused, "the handler ended without asking for some of what was recorded");
        }
    }

    pub(crate) fn gate(&self) -> &Gate {
        &self.run.gate
    }
}

impl fmt::Debug for Ctx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ctx")
            .field("task", &self.run.task)
            .finish_non_exhaustive()
    }
}
