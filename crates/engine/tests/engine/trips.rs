//! Round trips to a Valkey server, told by the server itself. The engine listens and does not pump, so nothing but what a
//! test does talks to it. On one thread, because then callers that come together always share a call.

use std::collections::BTreeMap;

use ff_core::command::budget::CreateBudget;
use ff_core::command::claim::Task;
use ff_core::command::lease::{Release, Renew};
use ff_core::command::signal::{DeliverSignal, SendSignal};
use ff_core::command::steps::{RecordSteps, RecordedSteps, StepReport, StepUsage};
use ff_core::command::submit::CreateExecution;
use ff_core::command::suspend::{Suspend, WaitpointChoice};
use ff_core::command::waitpoint::{IssuedWaitpoint, SuspendedTask};
use ff_core::fabric::{Fabric, On};
use ff_core::id::BudgetId;
use ff_core::name::{Dimension, ExecutionKind, Identity, Namespace, SignalName, StepKey, WaitpointKey};
use ff_core::payload::Payload;
use ff_core::record::{Matcher, OnHardLimit, ReasonCode, ResumeCondition};
use ff_fabric_suite::Harness;
use ff_valkey_server::Standalone;
use futures::future::join_all;

use crate::support::{EngineHarness, claim, complete_all};

/// An engine that has done everything once, and its server.
struct World {
    harness: EngineHarness,
    server: Standalone,
}

impl World {
    /// By the end of this the lane is known, the clock of every partition, and everything else that is asked for once.
    async fn warm() -> Self {
        let server = Standalone::start(Default::default()).await;
        let harness = EngineHarness::at(vec![server.url()], |_| ()).await;
        let world = Self { harness, server };
        world.submit(1).await;
        for task in world.claim(1).await {
            world.renew(&task).await;
            world.complete(&task).await;
        }
        world.harness.settle().await;
        world
    }

    async fn submit(&self, count: usize) {
        let command = CreateExecution::new(ExecutionKind::parse("job").unwrap(), Payload::default());
        let submissions = (0..count).map(|_| self.harness.engine.create_execution(command.clone()));
        for created in join_all(submissions).await {
            created.unwrap();
        }
    }

    async fn claim(&self, max: usize) -> Vec<Task> {
        let tasks = self.harness.engine.claim(claim(1, max)).await.unwrap();
        assert_eq!(tasks.len(), max);
        tasks
    }

    async fn renew(&self, task: &Task) {
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

    async fn record(&self, task: &Task, steps: Vec<StepReport>) -> RecordedSteps {
        let record = RecordSteps {
            fence: Some(task.fence),
            steps,
            progress: None,
        };
        let recorded = self.harness.engine.record_steps(On::new(task.execution_id, record));
        recorded.await.unwrap()
    }

    async fn release(&self, task: &Task) {
        let release = Release {
            fence: Some(task.fence),
            steps: Vec::new(),
        };
        let released = self.harness.engine.release(On::new(task.execution_id, release));
        released.await.unwrap();
    }

    async fn budget(&self) -> BudgetId {
        let budget = CreateBudget {
            budget_id: None,
            namespace: Namespace::default_namespace(),
            scope: "a test".to_owned(),
            dimensions: BTreeMap::new(),
            reset_interval: None,
            on_hard_limit: OnHardLimit::Block,
        };
        self.harness.engine.create_budget(budget).await.unwrap().budget_id
    }

    /// Suspends a task as a wait of its handler.
    async fn wait(&self, task: &Task) -> IssuedWaitpoint {
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

    async fn signal(&self, task: &Task, waitpoint: &IssuedWaitpoint) {
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

    async fn complete(&self, task: &Task) {
        complete_all(&self.harness.engine, std::slice::from_ref(task)).await;
    }

    /// The commands that are sent for `work`, and what it comes to.
    async fn sent_for<T>(&self, work: impl Future<Output = T>) -> (Vec<String>, T) {
        let mut monitor = self.server.monitor().await;
        let done = work.await;
        (monitor.sent().await, done)
    }
}

fn done(key: &str) -> StepReport {
    StepReport::done(StepKey::parse(key).unwrap(), Some(Payload::binary("x")))
}

fn costing(key: &str, budget_id: BudgetId) -> StepReport {
    StepReport {
        usage: vec![StepUsage {
            budget_id,
            deltas: [(Dimension::parse("tokens").unwrap(), 1)].into(),
        }],
        ..done(key)
    }
}

#[tokio::test]
async fn submit_claim_renew_and_complete_are_one_call_each() {
    let world = World::warm().await;
    assert_eq!(world.sent_for(world.submit(1)).await.0, ["fcall"], "to submit");
    let (sent, tasks) = world.sent_for(world.claim(1)).await;
    assert_eq!(sent, ["fcall"], "to claim");
    assert_eq!(world.sent_for(world.renew(&tasks[0])).await.0, ["fcall"], "to renew");
    let sent = world.sent_for(world.complete(&tasks[0])).await.0;
    assert_eq!(sent, ["fcall"], "to complete");
}

#[tokio::test]
async fn a_batch_is_claimed_with_one_call() {
    let world = World::warm().await;
    world.submit(20).await;
    let (sent, _) = world.sent_for(world.claim(8)).await;
    assert_eq!(sent, ["fcall"]);
}

#[tokio::test]
async fn sixteen_callers_at_once_share_a_call() {
    let world = World::warm().await;
    assert_eq!(world.sent_for(world.submit(16)).await.0, ["fcall"], "to submit");
    let (sent, tasks) = world.sent_for(world.claim(16)).await;
    assert_eq!(sent, ["fcall"], "to claim");
    let renewals = join_all(tasks.iter().map(|task| world.renew(task)));
    assert_eq!(world.sent_for(renewals).await.0, ["fcall"], "to renew");
    let ends = join_all(tasks.iter().map(|task| world.complete(task)));
    assert_eq!(world.sent_for(ends).await.0, ["fcall"], "to complete");
}

#[tokio::test]
async fn steps_are_one_call_and_with_what_they_cost_three() {
    let world = World::warm().await;
    let budget_id = world.budget().await;
    world.submit(1).await;
    let task = world.claim(1).await.remove(0);
    world.record(&task, vec![costing("warm", budget_id)]).await;
    let plain = vec![done("a"), done("b")];
    assert_eq!(
        world.sent_for(world.record(&task, plain)).await.0,
        ["fcall"],
        "to record"
    );
    let charged = vec![costing("c", budget_id), costing("d", budget_id)];
    let (sent, recorded) = world.sent_for(world.record(&task, charged)).await;
    assert_eq!(sent, ["fcall"; 3], "to record, to charge and ask, and to settle");
    assert_eq!(recorded.budgets.len(), 1);
}

#[tokio::test]
async fn the_steps_of_a_round_are_read_with_one_call() {
    let world = World::warm().await;
    world.submit(8).await;
    let tasks = world.claim(8).await;
    for task in &tasks {
        world.record(task, vec![done("a"), done("b")]).await;
        world.release(task).await;
    }
    let (sent, tasks) = world.sent_for(world.claim(8)).await;
    assert_eq!(sent.len(), 2, "to claim, and to read what was done: {sent:?}");
    assert!(tasks.iter().all(|task| task.journal.as_ref().unwrap().steps.len() == 2));
}

#[tokio::test]
async fn waiting_for_a_signal_and_going_on_with_it_are_five_calls_at_most() {
    let world = World::warm().await;
    world.submit(2).await;
    let tasks = world.claim(2).await;
    // The keys that tokens are signed with are asked for once.
    let first = world.wait(&tasks[0]).await;
    world.signal(&tasks[0], &first).await;
    world.complete(&world.claim(1).await[0]).await;
    let (suspended, waitpoint) = world.sent_for(world.wait(&tasks[1])).await;
    assert_eq!(suspended, ["fcall"], "to suspend");
    let (signalled, ()) = world.sent_for(world.signal(&tasks[1], &waitpoint)).await;
    let (claimed, next) = world.sent_for(world.claim(1)).await;
    let calls = suspended.len() + signalled.len() + claimed.len();
    assert!(calls <= 5, "{calls}: {signalled:?} {claimed:?}");
    let steps = &next[0].journal.as_ref().unwrap().steps;
    assert_eq!(steps[0].signals.len(), 1, "with what was said");
}
