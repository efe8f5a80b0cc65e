//! An engine that has done everything once, and what a test lets it do.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Add;

use ff_core::command::budget::CreateBudget;
use ff_core::command::claim::Task;
use ff_core::command::lease::{Release, Renew};
use ff_core::command::quota::CreateQuotaPolicy;
use ff_core::command::signal::{DeliverSignal, SendSignal};
use ff_core::command::steps::{RecordSteps, RecordedSteps, StepReport, StepUsage};
use ff_core::command::submit::CreateExecution;
use ff_core::command::suspend::{Suspend, WaitpointChoice};
use ff_core::command::waitpoint::{IssuedWaitpoint, SuspendedTask};
use ff_core::fabric::{Fabric, On};
use ff_core::id::{BudgetId, QuotaPolicyId};
use ff_core::name::{Dimension, ExecutionKind, Identity, Namespace, SignalName, StepKey, WaitpointKey};
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_core::record::{Limits, Matcher, OnHardLimit, ReasonCode, ResumeCondition};
use ff_fabric_suite::Harness;
use futures::future::join_all;

use crate::support::{EngineHarness, claim, complete_all};

/// The way to a store, where it is seen what is sent.
pub(super) trait Wire {
    /// What is sent while `work` is done, and what that comes to.
    async fn sent_for<T>(&self, work: impl Future<Output = T>) -> (Vec<String>, T);
}

/// What was sent; it is compared by how much that is, and shown as what it is.
#[derive(Debug)]
pub(super) struct Calls(Vec<String>);

impl PartialEq<usize> for Calls {
    fn eq(&self, count: &usize) -> bool {
        self.0.len() == *count
    }
}

impl PartialOrd<usize> for Calls {
    fn partial_cmp(&self, count: &usize) -> Option<Ordering> {
        self.0.len().partial_cmp(count)
    }
}

impl Add for Calls {
    type Output = Self;

    fn add(mut self, mut later: Self) -> Self {
        self.0.append(&mut later.0);
        self
    }
}

/// An engine that has done everything once, and the way to its store.
pub(super) struct World<W> {
    harness: EngineHarness,
    wire: W,
}

impl<W: Wire> World<W> {
    /// By the end of this the lane is known, the clock of every partition, and everything else that is asked for once.
    pub(super) async fn warm(harness: EngineHarness, wire: W) -> Self {
        let world = Self { harness, wire };
        world.submit(1).await;
        for task in world.claim(1).await {
            world.renew(&task).await;
            world.complete(&task).await;
        }
        world.harness.settle().await;
        world
    }

    pub(super) async fn submit(&self, count: usize) {
        self.submit_under(count, Policy::default()).await;
    }

    async fn submit_under(&self, count: usize, policy: Policy) {
        let command = CreateExecution {
            policy,
            ..CreateExecution::new(ExecutionKind::parse("job").unwrap(), Payload::default())
        };
        let submissions = (0..count).map(|_| self.harness.engine.create_execution(command.clone()));
        for created in join_all(submissions).await {
            created.unwrap();
        }
    }

    pub(super) async fn claim(&self, max: usize) -> Vec<Task> {
        let tasks = self.harness.engine.claim(claim(1, max)).await.unwrap();
        assert_eq!(tasks.len(), max);
        tasks
    }

    pub(super) async fn renew(&self, task: &Task) {
        let renew = Renew {
            fence: Some(task.fence),
            ttl: None,
            doing: Vec::new(),
        };
        self.harness
            .engine
            .renew(On::new(task.execution_id, renew))
            .await
            .unwrap();
    }

    pub(super) async fn record(&self, task: &Task, steps: Vec<StepReport>) -> RecordedSteps {
        let record = RecordSteps {
            fence: Some(task.fence),
            steps,
            progress: None,
        };
        let recorded = self.harness.engine.record_steps(On::new(task.execution_id, record));
        recorded.await.unwrap()
    }

    pub(super) async fn release(&self, task: &Task) {
        let release = Release {
            fence: Some(task.fence),
            steps: Vec::new(),
        };
        let released = self.harness.engine.release(On::new(task.execution_id, release));
        released.await.unwrap();
    }

    /// A budget that leaves room for all of a test.
    pub(super) async fn budget(&self) -> BudgetId {
        let limits = Limits {
            soft: None,
            hard: Some(1_000),
        };
        let budget = CreateBudget {
            budget_id: None,
            namespace: Namespace::default_namespace(),
            scope: "a test".to_owned(),
            dimensions: BTreeMap::from([(tokens(), limits)]),
            reset_interval: None,
            on_hard_limit: OnHardLimit::Block,
        };
        self.harness.engine.create_budget(budget).await.unwrap().budget_id
    }

    /// A quota that leaves room for all of a test.
    pub(super) async fn quota(&self) -> QuotaPolicyId {
        let quota = CreateQuotaPolicy {
            quota_policy_id: None,
            namespace: Namespace::default_namespace(),
            window: ff_core::time::Duration::from_secs(60),
            max_requests_per_window: Some(1_000),
            max_concurrent: Some(1_000),
            jitter: ff_core::time::Duration::ZERO,
        };
        let created = self.harness.engine.create_quota_policy(quota).await.unwrap();
        created.quota_policy_id
    }

    /// Suspends a task as a wait of its handler.
    pub(super) async fn wait(&self, task: &Task) -> IssuedWaitpoint {
        let waitpoint_key = WaitpointKey::parse("review#0").unwrap();
        let suspend = Suspend {
            fence: Some(task.fence),
            waitpoints: vec![WaitpointChoice::Fresh {
                waitpoint_key: waitpoint_key.clone(),
                waitpoint_id: None,
            }],
            resume_condition: ResumeCondition::Single {
                waitpoint_key,
                matcher: Matcher::Any,
            },
            reason_code: ReasonCode::WaitingForSignal,
            timeout_at: None,
            timeout_behavior: None,
            resume_delay: ff_core::time::Duration::ZERO,
            idempotency_key: None,
            suspension_id: None,
            steps: Vec::new(),
            step: Some(StepKey::parse("review#0").unwrap()),
        };
        let suspended = self.harness.engine.suspend(On::new(task.execution_id, suspend));
        match suspended.await.unwrap() {
            SuspendedTask::Suspended { mut waitpoints, .. } => waitpoints.remove(0),
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn signal(&self, task: &Task, waitpoint: &IssuedWaitpoint) {
        let send = SendSignal {
            waitpoint_token: waitpoint.token.clone(),
            signal: DeliverSignal {
                waitpoint_id: waitpoint.waitpoint_id,
                signal_id: None,
                signal_name: SignalName::parse("go").unwrap(),
                category: "test".to_owned(),
                source_type: "test".to_owned(),
                source_identity: Identity::parse("somebody").unwrap(),
                payload: Payload::binary("said"),
                idempotency_key: None,
                correlation_id: None,
            },
        };
        let delivered = self.harness.engine.deliver_signal(On::new(task.execution_id, send));
        delivered.await.unwrap();
    }

    pub(super) async fn complete(&self, task: &Task) {
        complete_all(&self.harness.engine, std::slice::from_ref(task)).await;
    }

    /// The calls that are made for `work`, and what it comes to.
    pub(super) async fn calls_for<T>(&self, work: impl Future<Output = T>) -> (Calls, T) {
        let (sent, done) = self.wire.sent_for(work).await;
        (Calls(sent), done)
    }

    /// The same for work that comes to nothing.
    pub(super) async fn calls(&self, work: impl Future) -> Calls {
        self.calls_for(work).await.0
    }

    /// The calls that it takes to claim eight at once under a policy under which one ran before.
    pub(super) async fn calls_to_claim_under(&self, policy: Policy) -> Calls {
        self.submit_under(1, policy.clone()).await;
        self.complete(&self.claim(1).await[0]).await;
        self.harness.settle().await;
        self.submit_under(8, policy).await;
        self.calls(self.claim(8)).await
    }
}

pub(super) fn done(key: &str) -> StepReport {
    StepReport::done(StepKey::parse(key).unwrap(), Some(Payload::binary("x")))
}

pub(super) fn costing(key: &str, budget_id: BudgetId) -> StepReport {
    StepReport {
        usage: vec![StepUsage {
            budget_id,
            deltas: [(tokens(), 1)].into(),
        }],
        ..done(key)
    }
}

fn tokens() -> Dimension {
    Dimension::parse("tokens").unwrap()
}
