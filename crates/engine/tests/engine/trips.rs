//! Round trips to a Valkey server, told by the server itself. The engine listens and does not pump, so nothing but what a
//! test does talks to it. On one thread, because then callers that come together always share a call.

use ff_core::command::claim::Task;
use ff_core::command::lease::Renew;
use ff_core::command::submit::CreateExecution;
use ff_core::fabric::{Fabric, On};
use ff_core::name::ExecutionKind;
use ff_core::payload::Payload;
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
