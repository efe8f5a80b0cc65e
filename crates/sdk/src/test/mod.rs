//! Engines in memory whose time a test moves, with workers that can be made to crash.
//!
//! | where | what |
//! |---|---|
//! | `builder` | what a test's worker is told |
//! | `decision` | what people decide, and who they are |
//! | `time` | letting time pass, from one due thing to the next |
//! | `trouble` | answers that get lost, budgets that are used up |
//! | `watched` | the line between worker and engine, which sees what is recorded and can be cut |
//! | `records` | what steps did |
//! | `everywhere` | a crash after every step of a scenario |

mod builder;
mod decision;
mod everywhere;
mod records;
mod time;
mod trouble;
mod watched;

use std::sync::{Arc, Mutex, PoisonError};

use ff_core::command::operator::RevokeLease;
use ff_core::fabric::{Fabric, On};
use ff_core::name::StepKey;
use ff_core::state::PublicState;
use ff_core::view::ListExecutions;
use ff_engine::{Engine, VirtualTime};
use tokio::sync::Notify;

use self::records::{Recording, Records};
use self::trouble::Losses;
use self::watched::Watched;
use crate::client::Client;
use crate::run::Run;
use crate::submit::{IntoSubmission, Submit};
use crate::worker::{StoreClock, Worker, WorkerBuilder, thread};

pub use self::builder::TestBuilder;
pub use self::decision::TestDecision;
pub use self::everywhere::{CrashEverywhere, crash_everywhere};

/// An engine in memory with a worker of its own. Time passes only by [`TestEngine::advance`] and
/// [`TestEngine::auto_advance`]. Clones are the same engine.
#[derive(Clone)]
pub struct TestEngine {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Engine,
    client: Client,
    time: VirtualTime,
    records: Arc<Records>,
    losses: Losses,
    describe: Box<dyn Fn(WorkerBuilder) -> WorkerBuilder + Send + Sync>,
    /// The worker that runs, and how many there were.
    worker: Mutex<(Option<Worker>, u32)>,
}

impl TestEngine {
    /// A test that is being described.
    #[expect(clippy::new_ret_no_self, reason = "a test is described before it is started")]
    pub fn new() -> TestBuilder {
        TestBuilder::default()
    }

    /// The engine's client, for all that has no method here.
    pub fn client(&self) -> &Client {
        &self.inner.client
    }

    /// The engine itself.
    pub fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    /// Submits a task; it is kept for ever unless it says otherwise.
    pub fn submit<S: IntoSubmission>(&self, task: S) -> Submit<S::Task> {
        let kept_forever = |policy: &mut ff_core::policy::Policy| {
            let forever = ff_core::policy::Retention::Forever(ff_core::policy::Never::Never);
            policy.retention.get_or_insert(forever);
        };
        self.inner.client.submit(task).policy(kept_forever)
    }

    /// Lets the worker die as soon as the step with this key is recorded, once; a new one starts and goes on.
    ///
    /// # Panics
    ///
    /// When no step could have this key.
    pub fn crash_after(&self, key: &str) {
        let key = StepKey::parse(key).expect("the key of a step, such as draft#0");
        self.inner.records.crash_after(Recording { key, after: 0 });
    }

    /// How often bodies of steps of this name, or with this key, were run.
    pub fn calls(&self, name: &str) -> usize {
        self.inner.records.calls(name)
    }

    /// Gives this instead of running the bodies of steps of this name.
    pub fn mock_step<T: serde::Serialize>(&self, name: &str, value: impl Fn() -> T + Send + Sync + 'static) {
        self.inner.records.mock(name, value);
    }

    /// Takes the lease of a run away from its worker.
    pub async fn revoke<O>(&self, run: &Run<O>) -> crate::error::Result<()> {
        let revoke = RevokeLease {
            reason: Some("a test takes it away".to_owned()),
            expected_lease_epoch: None,
            request_id: None,
        };
        self.inner.engine.revoke_lease(On::new(run.id(), revoke)).await?;
        Ok(())
    }
}

impl Inner {
    /// Starts a worker, after the one before has crashed.
    fn start_worker(self: &Arc<Self>) {
        let crashed = Arc::new(Notify::new());
        let line = (Arc::clone(&self.records), self.losses.clone());
        let watched = Watched::new(self.engine.clone(), line, Arc::clone(&crashed));
        let mut current = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        current.1 += 1;
        let time = self.time.clone();
        let clock = StoreClock::given(move || time.now());
        let described = (self.describe)(Worker::new(watched)).instance(format!("test-{}", current.1));
        let worker = described.watched(clock, Arc::clone(&self.records) as Arc<_>).build();
        let worker = worker.unwrap_or_else(|error| panic!("{error}"));
        current.0 = Some(worker.clone());
        drop(current);
        let inner = Arc::downgrade(self);
        tokio::spawn(async move {
            let working = tokio::spawn({
                let worker = worker.clone();
                async move { worker.run_until(std::future::pending()).await }
            });
            crashed.notified().await;
            worker.crash();
            let _ = working.await;
            if let Some(inner) = inner.upgrade() {
                inner.revoke_all().await;
                inner.start_worker();
            }
        });
    }

    /// A worker that died holds its leases until they are over; they are over now, or no time could pass.
    async fn revoke_all(&self) {
        for id in self.leased().await {
            let revoke = RevokeLease {
                reason: Some("its worker has crashed".to_owned()),
                expected_lease_epoch: None,
                request_id: None,
            };
            // It may have ended by itself.
            let _ = self.engine.revoke_lease(On::new(id, revoke)).await;
        }
    }

    async fn leased(&self) -> Vec<ff_core::id::ExecutionId> {
        let list = ListExecutions {
            state: vec![PublicState::Active],
            ..ListExecutions::default()
        };
        let listed = self.engine.list_executions(list).await;
        listed.map_or_else(
            |_| Vec::new(),
            |page| page.items.iter().map(|item| item.execution_id).collect(),
        )
    }

    /// Does what is due, again and again, on the thread of the workers.
    fn pump(self: &Arc<Self>) {
        let inner = Arc::downgrade(self);
        let Ok(runtime) = thread::runtime() else { return };
        runtime.spawn(async move {
            while let Some(inner) = inner.upgrade() {
                let _ = inner.engine.pump_pass().await;
                drop(inner);
                tokio::time::sleep(time::LOOK_AGAIN).await;
            }
        });
    }
}
