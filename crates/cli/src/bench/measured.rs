//! The store under test, and what it can tell about itself.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use ff_backend::Backend;
use ff_backend_sqlite::{Durability, SqliteBackend};
use tempfile::TempDir;

use super::usage::cpu_time;
use crate::open::{self, Address};
use ff_backend::counted::Counted;

/// Which store to measure.
#[derive(clap::Args)]
pub(crate) struct StoreArguments {
    /// A Valkey address; without one the store is a SQLite file that is thrown away
    #[arg(long, env = "FF_BENCH_STORE")]
    pub(crate) store: Option<Address>,
    /// When SQLite has a commit on disk
    #[arg(long, value_enum, default_value_t = Sync::Full)]
    sync: Sync,
}

/// When an acknowledged commit is on disk.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Sync {
    /// Before it is acknowledged
    Full,
    /// A little later
    Normal,
}

impl From<Sync> for Durability {
    fn from(sync: Sync) -> Self {
        match sync {
            Sync::Full => Durability::Full,
            Sync::Normal => Durability::Normal,
        }
    }
}

/// The store under test.
pub(crate) struct Measured {
    /// For people.
    pub(crate) name: String,
    /// The store, counting calls.
    pub(crate) backend: Arc<Counted>,
    kind: Kind,
}

enum Kind {
    Sqlite {
        store: Arc<SqliteBackend>,
        /// Goes with the run.
        _folder: TempDir,
    },
    Valkey(redis::aio::MultiplexedConnection),
}

/// What was used so far.
#[derive(Clone, Copy, Default)]
pub(crate) struct Usage {
    /// Calls made to the store.
    pub(crate) calls: u64,
    /// Transactions in them.
    pub(crate) transactions: u64,
    /// CPU time of this process.
    pub(crate) cpu: Duration,
    /// Commits of SQLite, each one sync.
    pub(crate) syncs: Option<u64>,
    /// CPU time of Valkey.
    pub(crate) valkey_cpu: Option<Duration>,
    /// Commands Valkey ran, those inside functions too.
    pub(crate) valkey_commands: Option<u64>,
}

impl Usage {
    /// What was used since `before`.
    pub(crate) fn since(self, before: Usage) -> Usage {
        Usage {
            calls: self.calls - before.calls,
            transactions: self.transactions - before.transactions,
            cpu: self.cpu.saturating_sub(before.cpu),
            syncs: self.syncs.zip(before.syncs).map(|(after, before)| after - before),
            valkey_cpu: self
                .valkey_cpu
                .zip(before.valkey_cpu)
                .map(|(after, before)| after - before),
            valkey_commands: self
                .valkey_commands
                .zip(before.valkey_commands)
                .map(|(after, before)| after - before),
        }
    }
}

impl Measured {
    /// Opens the store that the arguments name.
    pub(crate) async fn open(arguments: &StoreArguments) -> anyhow::Result<Self> {
        let (kind, backend): (Kind, Arc<dyn Backend>) = match &arguments.store {
            Some(Address::Valkey(urls)) => {
                let backend = open::valkey(urls).await?;
                (Kind::Valkey(connection(urls).await?), backend)
            }
            Some(other) => {
                anyhow::bail!("{other} is no Valkey address; leave --store out for SQLite")
            }
            None => {
                let folder = tempfile::tempdir()?;
                let backend = open::sqlite(&folder.path().join("bench.db"), arguments.sync.into())?;
                let store = Arc::clone(&backend);
                (Kind::Sqlite { store, _folder: folder }, backend)
            }
        };
        let name = match &kind {
            Kind::Sqlite { .. } => format!("SQLite ({:?})", arguments.sync),
            Kind::Valkey(_) => "Valkey".to_owned(),
        };
        Ok(Self {
            name,
            backend: Arc::new(Counted::new(backend)),
            kind,
        })
    }

    /// How long the store takes to answer who asks for nothing, where it is another process.
    pub(crate) async fn ping(&self) -> anyhow::Result<Option<Duration>> {
        let Kind::Valkey(connection) = &self.kind else {
            return Ok(None);
        };
        let mut connection = connection.clone();
        let asked = Instant::now();
        redis::cmd("PING").query_async::<()>(&mut connection).await?;
        Ok(Some(asked.elapsed()))
    }

    /// What was used so far.
    pub(crate) async fn usage(&self) -> anyhow::Result<Usage> {
        let own = Usage {
            calls: self.backend.calls(),
            transactions: self.backend.transactions(),
            cpu: cpu_time().unwrap_or_default(),
            ..Usage::default()
        };
        Ok(match &self.kind {
            Kind::Sqlite { store, .. } => Usage {
                syncs: Some(store.stats().commits),
                ..own
            },
            Kind::Valkey(connection) => {
                let info = Info::read(connection.clone()).await?;
                Usage {
                    valkey_cpu: Some(Duration::from_secs_f64(
                        info.number("used_cpu_user") + info.number("used_cpu_sys"),
                    )),
                    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
                    valkey_commands: Some(info.number("total_commands_processed") as u64),
                    ..own
                }
            }
        })
    }
}

/// What Valkey tells about itself.
struct Info(String);

impl Info {
    async fn read(mut connection: redis::aio::MultiplexedConnection) -> anyhow::Result<Self> {
        let mut info = redis::cmd("INFO");
        Ok(Self(info.arg("cpu").arg("stats").query_async(&mut connection).await?))
    }

    fn number(&self, name: &str) -> f64 {
        let lines = self.0.lines().filter_map(|line| line.split_once(':'));
        let mut values = lines.filter(|(found, _)| *found == name).map(|(_, value)| value);
        values.next().and_then(|value| value.trim().parse().ok()).unwrap_or(0.0)
    }
}

/// A connection of its own to the first node.
pub(crate) async fn connection(urls: &[String]) -> anyhow::Result<redis::aio::MultiplexedConnection> {
    let url = urls.first().context("no address was given")?;
    let url = url.replacen("valkey", "redis", 1);
    Ok(redis::Client::open(url)?.get_multiplexed_async_connection().await?)
}
