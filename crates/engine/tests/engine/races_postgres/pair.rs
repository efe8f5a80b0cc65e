//! Two running engines, each with connections of its own to the same database.

use std::sync::Arc;
use std::time::{Duration as Span, Instant};

use ff_backend_postgres::PostgresBackend;
use ff_core::command::claim::{Claim, Task};
use ff_core::command::submit::CreateExecution;
use ff_core::fabric::Fabric;
use ff_core::id::ExecutionId;
use ff_core::name::ExecutionKind;
use ff_core::partition::PartitionCounts;
use ff_core::payload::Payload;
use ff_core::time::Duration;
use ff_engine::{Config, Engine, TokioHost};
use ff_postgres_server::Database;

use crate::support::{Luck, claim, postgres_database, postgres_options};

/// Two running engines on one database.
pub(super) struct Pair {
    pub(super) one: Engine,
    pub(super) other: Engine,
    database: Database,
}

impl Pair {
    pub(super) async fn start() -> Self {
        let database = postgres_database().await;
        Self {
            one: engine(&database).await,
            other: engine(&database).await,
            database,
        }
    }

    /// Holds what this locks for longer than a claim looks again at once; when it is free.
    pub(super) async fn hold(&self, locks: &str) -> Instant {
        let held = format!("WITH locked AS MATERIALIZED ({locks}) SELECT pg_sleep(0.4) FROM locked LIMIT 1");
        self.database.ask(&held).await;
        Instant::now()
    }

    /// Until it is held.
    pub(super) async fn until_held(&self) {
        let sleeping =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";
        while self.database.ask(sleeping).await != "1" {}
    }

    /// The database loses what the numbers of queues stand for; how many there were.
    pub(super) async fn forget_queues(&self) -> String {
        let forgotten = "WITH gone AS (DELETE FROM queue RETURNING 1) SELECT count(*) FROM gone";
        self.database.ask(forgotten).await
    }

    pub(super) async fn stop(self) {
        self.one.stop().await;
        self.other.stop().await;
    }
}

async fn engine(database: &Database) -> Engine {
    let store = PostgresBackend::open(&postgres_options(database.url())).await.unwrap();
    let config = Config::new(PartitionCounts::default());
    let engine = Engine::new(Arc::new(store), Arc::new(TokioHost::new()), config);
    engine.start();
    engine
}

/// How often a server looks for what it was not told of: whoever is found that late was forgotten.
pub(super) fn sweep_interval() -> Span {
    Config::new(PartitionCounts::default()).liveness_interval
}

pub(super) fn submission() -> CreateExecution {
    CreateExecution::new(ExecutionKind::parse("job").unwrap(), Payload::default())
}

pub(super) async fn submit(engine: &Engine) -> ExecutionId {
    engine.create_execution(submission()).await.unwrap().execution_id()
}

/// Waits for up to `max` tasks, for longer than it may take.
pub(super) async fn take(engine: &Engine, max: usize) -> Vec<Task> {
    let claim = Claim {
        wait: Duration::from_secs(30),
        ..claim(1, max)
    };
    engine.claim(claim).await.unwrap()
}

/// Some time, at most this long: about as long as what it is to meet takes, so that it meets that anywhere.
pub(super) async fn a_moment(luck: &mut Luck, at_most: Span) {
    let micros = u64::try_from(at_most.as_micros()).unwrap();
    tokio::time::sleep(Span::from_micros(luck.below(micros))).await;
}

/// How long a change of one thing takes.
pub(super) const CHANGE: Span = Span::from_millis(4);
