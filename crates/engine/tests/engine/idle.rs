//! What an engine without work costs a Valkey server, with everything that runs in the background and under a virtual clock.
//! Commands inside functions count.

use ff_core::command::claim::Claim;
use ff_core::command::submit::CreateExecution;
use ff_core::fabric::Fabric;
use ff_core::name::ExecutionKind;
use ff_core::payload::Payload;
use ff_core::time::Duration;
use ff_engine::Engine;
use ff_valkey_server::Standalone;

use crate::support::{EngineHarness, claim, complete_all};

/// What runs in the background does so at multiples of this.
const STEP: Duration = Duration::from_secs(5);
/// How long an engine is looked at: twenty minutes, in which everything is done that is done now and then.
const STEPS: u64 = 240;
/// How long it may take to get used to its store before.
const SETTLING_STEPS: u64 = 12;
/// Executions that are submitted, claimed and completed together.
const HANDFUL: usize = 250;
/// How long a worker waits for work before it asks again.
const WAIT: Duration = Duration::from_secs(30);
/// Equal readings in a row after which nothing is under way: each one is a trip to the server and back, and everything runs
/// on one thread.
const QUIET: usize = 8;
/// What one server may cost that has nothing to do.
const COMMANDS_PER_SECOND_MAX: f64 = 10.0;

/// A running engine and its server.
struct World {
    harness: EngineHarness,
    server: Standalone,
    /// Questions of ours that the server has counted too.
    asked: u64,
}

impl World {
    async fn start() -> Self {
        let server = Standalone::start(Default::default()).await;
        let harness = EngineHarness::at(vec![server.url()], |_| ()).await;
        harness.engine.start();
        let mut world = Self {
            harness,
            server,
            asked: 0,
        };
        world.quiet().await;
        world
    }

    fn engine(&self) -> &Engine {
        &self.harness.engine
    }

    /// Commands the server has run for the engine so far.
    async fn commands(&mut self) -> u64 {
        let stats = self.server.info("stats").await;
        let mut lines = stats
            .lines()
            .filter_map(|line| line.split_once("total_commands_processed:"));
        let counted: u64 = lines.next().unwrap().1.trim().parse().unwrap();
        let commands = counted - self.asked;
        self.asked += 1;
        commands
    }

    /// Waits until nothing is under way; how many commands there were until then.
    async fn quiet(&mut self) -> u64 {
        let (mut commands, mut equal) = (self.commands().await, 0);
        while equal < QUIET {
            let now = self.commands().await;
            equal = if now == commands { equal + 1 } else { 0 };
            commands = now;
        }
        commands
    }

    /// Lets time pass, slowly enough for the background to follow.
    async fn pass(&mut self, steps: u64) {
        for _ in 0..steps {
            let before = self.commands().await;
            self.harness.pass(STEP);
            // At every step there is something: the partitions of this server are leased again.
            while self.commands().await == before {}
            self.quiet().await;
        }
    }

    /// Looks at the engine for a while, after a moment in which it gets used to its store.
    async fn expect_little(&mut self) {
        self.pass(SETTLING_STEPS).await;
        self.server.ask("CONFIG RESETSTAT").await;
        self.asked = 0;
        self.pass(STEPS).await;
        let seconds = (STEPS * STEP.as_millis()) as f64 / 1_000.0;
        let per_second = self.quiet().await as f64 / seconds;
        assert!(
            per_second <= COMMANDS_PER_SECOND_MAX,
            "{per_second:.2} commands per second:\n{}",
            self.server.info("commandstats").await
        );
    }

    /// Workers that wait for work, each one again and again.
    fn park(&self, workers: usize) {
        for number in 0..workers {
            let engine = self.engine().clone();
            let claim = Claim {
                wait: WAIT,
                ..claim(number, 1)
            };
            tokio::spawn(async move {
                loop {
                    assert!(engine.claim(claim.clone()).await.unwrap().is_empty());
                }
            });
        }
    }

    /// Submits and completes.
    async fn finish(&self, executions: usize) {
        for _ in 0..executions / HANDFUL {
            let submission = CreateExecution::new(ExecutionKind::parse("job").unwrap(), Payload::default());
            for created in self
                .engine()
                .create_executions(vec![submission; HANDFUL])
                .await
                .unwrap()
            {
                created.unwrap();
            }
            let tasks = self.engine().claim(claim(0, HANDFUL)).await.unwrap();
            assert_eq!(tasks.len(), HANDFUL);
            complete_all(self.engine(), &tasks).await;
        }
    }
}

#[tokio::test]
async fn an_engine_without_work_costs_little() {
    let mut world = World::start().await;
    world.expect_little().await;
}

#[tokio::test]
async fn executions_that_have_ended_cost_nothing_more() {
    let mut world = World::start().await;
    world.finish(1_000).await;
    world.park(1);
    world.expect_little().await;
}

#[tokio::test]
async fn a_thousand_workers_that_wait_cost_little() {
    let mut world = World::start().await;
    world.park(1_000);
    world.expect_little().await;
}
