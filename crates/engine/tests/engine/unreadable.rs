//! A row that cannot be read costs nothing but itself: its lane, its batch and every list of others go on without it, and it is
//! shown to whoever asks what is wrong. Memory keeps no rows that could be damaged.

use std::sync::Arc;

use async_trait::async_trait;
use ff_backend_sqlite::{Options, SqliteBackend};
use ff_core::command::submit::{CreateExecution, Created};
use ff_core::error::Code;
use ff_core::fabric::Fabric;
use ff_core::id::ExecutionId;
use ff_core::name::ExecutionKind;
use ff_core::partition::{Family, PartitionCounts};
use ff_core::payload::Payload;
use ff_core::state::PublicState;
use ff_core::time::Duration;
use ff_core::view::ListProblems;
use ff_core::view::{ListExecutions, ProblemKind};
use ff_fabric_suite::Harness as _;
use ff_valkey_server::Standalone;
use tempfile::TempDir;
use uuid::Uuid;

use crate::support::{EngineHarness, claim, complete_all};

/// What becomes of the body of an execution behind the store's back.
#[async_trait]
trait Vandal: Send + Sync {
    async fn write(&self, id: ExecutionId, body: &str);
    async fn read(&self, id: ExecutionId) -> String;
}

struct World {
    harness: EngineHarness,
    vandal: Box<dyn Vandal>,
}

struct File(TempDir);

impl File {
    fn connect(&self) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(self.0.path().join("store.db")).unwrap();
        connection.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
        connection
    }
}

#[async_trait]
impl Vandal for File {
    async fn write(&self, id: ExecutionId, body: &str) {
        let sql = "UPDATE execution SET body = ?2 WHERE uuid = ?1";
        let changed = self.connect().execute(sql, (id.uuid().to_string(), body));
        assert_eq!(changed, Ok(1));
    }

    async fn read(&self, id: ExecutionId) -> String {
        let sql = "SELECT body FROM execution WHERE uuid = ?1";
        let found = self.connect().query_row(sql, [id.uuid().to_string()], |row| row.get(0));
        found.unwrap()
    }
}

#[async_trait]
impl Vandal for Arc<Standalone> {
    async fn write(&self, id: ExecutionId, body: &str) {
        let key = format!("{}:execution:{}", id.partition(), id.uuid());
        let words = ["HSET", &key, "body", body].map(str::as_bytes);
        self.command(&words).await;
    }

    async fn read(&self, id: ExecutionId) -> String {
        let key = format!("{}:execution:{}", id.partition(), id.uuid());
        self.ask(&format!("HGET {key} body")).await.text().to_owned()
    }
}

impl World {
    fn in_a_file() -> Self {
        let file = File(tempfile::tempdir().unwrap());
        let store = Arc::new(SqliteBackend::open(&Options::new(file.0.path().join("store.db"))).unwrap());
        let clock = Arc::clone(&store);
        Self {
            harness: EngineHarness::over(store, move |by| clock.advance_clock(by), |_| ()),
            vandal: Box::new(file),
        }
    }

    async fn on_a_server() -> Self {
        let server = Arc::new(Standalone::start(Default::default()).await);
        Self {
            harness: EngineHarness::at(vec![server.url()], |_| ()).await,
            vandal: Box::new(server),
        }
    }

    async fn submit(&self, number: u16) -> ExecutionId {
        let command = CreateExecution {
            // All in one partition, so that they share calls; the earlier, the sooner.
            execution_id: Some(ExecutionId::new(0, Uuid::from_u128(u128::from(number)))),
            priority: 100 - number,
            ..CreateExecution::new(ExecutionKind::parse("job").unwrap(), Payload::default())
        };
        match self.harness.engine.create_execution(command).await.unwrap() {
            Created::Created { execution_id: id } => id,
            other => panic!("{other:?}"),
        }
    }

    /// Everything a worker gets until there is no more.
    async fn work_all(&self) -> Vec<ExecutionId> {
        let engine = &self.harness.engine;
        let mut worked = Vec::new();
        loop {
            let tasks = engine.claim(claim(1, 2)).await.unwrap();
            if tasks.is_empty() {
                return worked;
            }
            complete_all(engine, &tasks).await;
            worked.extend(tasks.iter().map(|task| task.execution_id));
        }
    }

    async fn everything_else_goes_on(&self) {
        let engine = &self.harness.engine;
        let damaged = self.submit(1).await;
        let others = [self.submit(2).await, self.submit(3).await];
        let body = self.vandal.read(damaged).await;
        self.vandal.write(damaged, "{\"no").await;
        assert_eq!(self.work_all().await, others, "its lane goes on");
        let reads = others.into_iter().chain([damaged]).map(|id| engine.get_state(id));
        let [first, second, unreadable] = &futures::future::join_all(reads).await[..] else {
            panic!("three were read");
        };
        assert!(first.is_ok() && second.is_ok(), "its batch goes on");
        assert_eq!(unreadable.as_ref().unwrap_err().code, Code::Internal);
        let listed = engine.list_executions(ListExecutions::default()).await.unwrap().items;
        assert_eq!(listed.len(), 2, "lists of others go on");
        // It may have been handed to somebody, whose lease must end first.
        self.harness.advance(Duration::from_secs(11)).await;
        self.audit_everything().await;
        let problems = engine.list_problems(ListProblems::default()).await.unwrap();
        let [problem] = &problems[..] else {
            panic!("one problem, not {problems:?}");
        };
        assert_eq!(problem.kind, ProblemKind::Unreadable);
        assert!(problem.subject.contains(&damaged.to_string()), "{problem:?}");
        self.vandal.write(damaged, &body).await;
        // Longer than anything is pushed back, and than a lease that nobody used.
        self.harness.advance(Duration::from_secs(301)).await;
        self.audit_everything().await;
        self.harness.settle().await;
        assert_eq!(
            engine.get_state(damaged).await.unwrap().public_state,
            PublicState::Waiting
        );
        assert_eq!(engine.list_problems(ListProblems::default()).await.unwrap(), []);
        assert_eq!(self.work_all().await, [damaged], "whoever mends it gets it back");
    }

    async fn audit_everything(&self) {
        for _ in PartitionCounts::default().all(Family::Flow) {
            self.harness.engine.pump_audit().await.unwrap();
        }
    }
}

#[tokio::test]
async fn an_unreadable_row_of_a_file_costs_nothing_but_itself() {
    World::in_a_file().everything_else_goes_on().await;
}

#[tokio::test]
async fn an_unreadable_row_of_a_server_costs_nothing_but_itself() {
    World::on_a_server().await.everything_else_goes_on().await;
}
