//! The whole conformance suite, each case on a database of its own.

use std::sync::Arc;

use async_trait::async_trait;
use ff_backend::Backend;
use ff_backend::conformance::Harness;
use ff_backend_postgres::{Options, PostgresBackend, library_name, migrate};
use ff_core::partition::PartitionCounts;
use ff_core::time::Duration;
use ff_postgres_server::Database;

/// A store with the database it is in.
struct PostgresHarness {
    store: Arc<PostgresBackend>,
    _database: Database,
}

#[async_trait]
impl Harness for PostgresHarness {
    fn backend(&self) -> Arc<dyn Backend> {
        self.store.clone()
    }

    async fn advance(&self, by: Duration) {
        self.store.advance_clock(by);
    }

    fn counts(&self) -> PartitionCounts {
        PartitionCounts::default()
    }

    fn work_counter(&self) -> Option<u64> {
        Some(self.store.entries_visited())
    }

    fn orders_across_partitions(&self) -> bool {
        false
    }
}

/// A database that is migrated, and how it is opened.
pub(crate) async fn migrated() -> (Database, Options) {
    let options = |url| Options {
        may_lose_writes: true,
        ..Options::new(url)
    };
    let database = Database::like(library_name(), async |url| {
        migrate(&options(url)).await.unwrap();
    })
    .await;
    let options = options(database.url());
    (database, options)
}

async fn make() -> PostgresHarness {
    let (database, options) = migrated().await;
    PostgresHarness {
        store: Arc::new(PostgresBackend::open(&options).await.unwrap()),
        _database: database,
    }
}

ff_backend::conformance_suite!(make);
