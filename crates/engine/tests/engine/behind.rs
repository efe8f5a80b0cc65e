//! Stores whose rows can be read and written behind their back.

use std::sync::Arc;

use async_trait::async_trait;
use ff_backend_sqlite::{Options, SqliteBackend};
use ff_core::command::submit::{CreateExecution, Created};
use ff_core::fabric::Fabric;
use ff_core::id::ExecutionId;
use ff_core::name::ExecutionKind;
use ff_core::payload::Payload;
use ff_valkey_server::Standalone;
use tempfile::TempDir;
use uuid::Uuid;

use crate::support::{EngineHarness, claim, complete_all};

/// The bodies of executions as they are stored.
#[async_trait]
pub(crate) trait Bodies: Send + Sync {
    async fn write(&self, id: ExecutionId, body: &str);
    async fn read(&self, id: ExecutionId) -> String;
}

/// An engine over a store, and the way behind it.
pub(crate) struct World {
    pub(crate) harness: EngineHarness,
    pub(crate) bodies: Box<dyn Bodies>,
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
impl Bodies for File {
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
impl Bodies for Arc<Standalone> {
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
    pub(crate) fn in_a_file() -> Self {
        let file = File(tempfile::tempdir().unwrap());
        let store = Arc::new(SqliteBackend::open(&Options::new(file.0.path().join("store.db"))).unwrap());
        let clock = Arc::clone(&store);
        Self {
            harness: EngineHarness::over(store, move |by| clock.advance_clock(by), |_| ()),
            bodies: Box::new(file),
        }
    }

    pub(crate) async fn on_a_server() -> Self {
        let server = Arc::new(Standalone::start(Default::default()).await);
        Self {
            harness: EngineHarness::at(vec![server.url()], |_| ()).await,
            bodies: Box::new(server),
        }
    }

    pub(crate) async fn submit(&self, number: u16) -> ExecutionId {
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
    pub(crate) async fn work_all(&self) -> Vec<ExecutionId> {
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
}
