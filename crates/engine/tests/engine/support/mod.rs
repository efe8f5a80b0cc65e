//! Engines for tests: over a store in memory or in a file, with time that passes only when told to.

mod luck;
mod worker;

use std::sync::Arc;
use std::time::Duration as Span;

use async_trait::async_trait;
use ff_backend::Backend;
use ff_backend::memory::MemoryBackend;
use ff_backend_postgres::PostgresBackend;
use ff_backend_sqlite::{Durability, Options, SqliteBackend};
use ff_backend_valkey::ValkeyBackend;
use ff_core::caller::Caller;
use ff_core::fabric::Fabric;
use ff_core::partition::PartitionCounts;
use ff_core::time::{Duration, Timestamp};
use ff_engine::{Config, Duty, Engine, VirtualHost};
use ff_fabric_suite::Harness;
use ff_postgres_server::Database;
use ff_valkey_server::Standalone;

pub(crate) use self::luck::Luck;
pub(crate) use self::worker::{claim, complete_all};

/// When every store in memory begins.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// A pause after which the pump looks again at what it put off.
const PAUSE: Duration = Duration::from_secs(2);
/// Pauses after which something that is put off stays so.
const PAUSES_MAX: usize = 8;

/// The variable that names a duty of the pump to turn off, for the tests that must notice.
pub(crate) const WITHOUT: &str = "FF_TEST_WITHOUT_DUTY";

/// Turns off the duty this process was told to do without.
pub(crate) fn turn_off(config: &mut Config) {
    let without = std::env::var(WITHOUT).unwrap_or_default();
    let duties = Duty::ALL.iter().filter(|duty| duty.as_str() == without);
    config.disabled.extend(duties.copied());
}

/// A PostgreSQL database that is migrated.
pub(crate) async fn postgres_database() -> Database {
    Database::like(ff_backend_postgres::library_name(), async |url| {
        ff_backend_postgres::migrate(&postgres_options(url)).await.unwrap();
    })
    .await
}

/// How such a database is opened.
pub(crate) fn postgres_options(url: String) -> ff_backend_postgres::Options {
    ff_backend_postgres::Options {
        may_lose_writes: true,
        // Each one learns the types of the library anew, which takes longer than most tests.
        connections_max: 3,
        ..ff_backend_postgres::Options::new(url)
    }
}

/// An engine over some store, both with clocks that can be moved.
pub(crate) struct EngineHarness {
    pub(crate) engine: Engine,
    pub(crate) host: Arc<VirtualHost>,
    clock: Box<dyn Fn(Duration) + Send + Sync>,
    /// What must live as long as the store: a folder, or a server.
    _keeps: Option<Box<dyn std::any::Any + Send + Sync>>,
}

impl EngineHarness {
    /// Over a store in memory.
    pub(crate) fn memory(adjust: impl FnOnce(&mut Config)) -> Self {
        let store = Arc::new(MemoryBackend::new(START, PartitionCounts::default()));
        let clock = Arc::clone(&store);
        Self::over(store, move |by| clock.advance(by), adjust)
    }

    /// Over a store in a file of its own.
    pub(crate) fn sqlite(adjust: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = Options {
            durability: Durability::Normal,
            ..Options::new(folder.path().join("store.db"))
        };
        let store = Arc::new(SqliteBackend::open(&options).unwrap());
        let clock = Arc::clone(&store);
        let mut harness = Self::over(store, move |by| clock.advance_clock(by), adjust);
        harness._keeps = Some(Box::new(folder));
        harness
    }

    /// Over a Valkey server of its own.
    pub(crate) async fn valkey(adjust: impl FnOnce(&mut Config)) -> Self {
        let server = Standalone::start(Default::default()).await;
        let mut harness = Self::at(vec![server.url()], adjust).await;
        harness._keeps = Some(Box::new(server));
        harness
    }

    /// Over the Valkey servers at these addresses.
    pub(crate) async fn at(urls: Vec<String>, adjust: impl FnOnce(&mut Config)) -> Self {
        let options = ff_backend_valkey::Options {
            urls,
            ..ff_backend_valkey::Options::new("")
        };
        let store = Arc::new(ValkeyBackend::open(&options).await.unwrap());
        let clock = Arc::clone(&store);
        Self::over(store, move |by| clock.advance_clock(by), adjust)
    }

    /// Over a PostgreSQL database of its own.
    pub(crate) async fn postgres(adjust: impl FnOnce(&mut Config)) -> Self {
        let database = postgres_database().await;
        let options = postgres_options(database.url());
        let store = Arc::new(PostgresBackend::open(&options).await.unwrap());
        let clock = Arc::clone(&store);
        let mut harness = Self::over(store, move |by| clock.advance_clock(by), adjust);
        harness._keeps = Some(Box::new(database));
        harness
    }

    /// Over any store whose clock `clock` moves.
    pub(crate) fn over(
        store: Arc<dyn Backend>,
        clock: impl Fn(Duration) + Send + Sync + 'static,
        adjust: impl FnOnce(&mut Config),
    ) -> Self {
        let host = Arc::new(VirtualHost::new(7));
        let mut config = Config::new(PartitionCounts::default());
        turn_off(&mut config);
        adjust(&mut config);
        let engine = Engine::new(store, Arc::clone(&host) as Arc<dyn ff_engine::Host>, config);
        engine.listen();
        Self {
            engine,
            host,
            clock: Box::new(clock),
            _keeps: None,
        }
    }

    /// Lets time pass, for the store and for the engine.
    pub(crate) fn pass(&self, by: Duration) {
        (self.clock)(by);
        self.host.advance(Span::from_millis(by.as_millis()));
    }
}

#[async_trait]
impl Harness for EngineHarness {
    fn fabric(&self) -> Arc<dyn Fabric> {
        Arc::new(self.engine.clone())
    }

    async fn fabric_for(&self, caller: Caller) -> Arc<dyn Fabric> {
        Arc::new(self.engine.acting_as(caller))
    }

    async fn advance(&self, by: Duration) {
        // What the engine does every few seconds, it has done before a long time passes.
        self.engine.pump_sweep().await.unwrap();
        self.pass(by);
        self.settle().await;
    }

    async fn settle(&self) {
        let mut pauses = 0;
        for _ in 0..10_000 {
            if self.engine.pump_pass().await.unwrap() > 0 {
                continue;
            }
            if self.engine.postponed() == 0 || pauses == PAUSES_MAX {
                return;
            }
            // Something was in the way of something else: a moment later it may not be.
            pauses += 1;
            self.pass(PAUSE);
        }
        panic!("there is always something due");
    }
}
