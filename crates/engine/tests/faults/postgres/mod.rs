//! PostgreSQL: one server, its connections, its schema, and its standbys.

mod connections;
mod crash;
mod failover;
mod generations;
mod migration;
mod pair;
mod standstill;

use std::sync::Arc;

use ff_backend::Backend;
use ff_backend_postgres::{Options, PostgresBackend};
use ff_postgres_server::Server;

/// A server of a test's own, and a database in it.
struct Site {
    server: Server,
    database: String,
}

impl Site {
    /// Its files are in memory: processes are killed here, not machines.
    async fn start() -> Self {
        let server = Server::start(Default::default()).await;
        let database = server.create_database().await;
        Self { server, database }
    }

    fn url(&self) -> String {
        self.server.url(&self.database)
    }

    async fn ask(&self, sql: &str) -> String {
        self.server.ask(&self.database, sql).await
    }
}

/// The store at this address.
async fn open(url: String) -> Arc<dyn Backend> {
    Arc::new(PostgresBackend::open(&options(url)).await.unwrap())
}

fn options(url: String) -> Options {
    Options {
        may_lose_writes: true,
        ..Options::new(url)
    }
}
