//! The store under test.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use ff_backend::Backend;
use ff_backend::counted::Counted;
use ff_backend_sqlite::{Durability, SqliteBackend};
use ff_core::partition::PartitionCounts;
use ff_engine::Engine;
use tempfile::TempDir;

use super::postgres::Postgres;
use super::process::own_cpu;
use super::usage::Usage;
use super::valkey::{Info, connections};
use crate::open::{self, Address, Opened};

/// Which store to measure.
#[derive(clap::Args)]
pub(crate) struct StoreArguments {
    /// A PostgreSQL or Valkey address; without one the store is a SQLite file that is thrown away
    #[arg(long, env = "FF_BENCH_STORE")]
    pub(crate) store: Option<Address>,
    /// When SQLite has a commit on disk
    #[arg(long, value_enum, default_value_t = Sync::Full)]
    sync: Sync,
}

impl StoreArguments {
    /// What it is called, and the address at which servers in other processes find it: a SQLite file in `folder`, unless it is another.
    pub(super) fn for_servers(&self, folder: &Path) -> (&'static str, String) {
        match &self.store {
            Some(Address::Valkey(urls)) => ("Valkey", urls.join(",")),
            Some(Address::Postgres(urls)) => ("PostgreSQL", urls.concat()),
            _ => ("SQLite", format!("sqlite:{}", folder.join("bench.db").display())),
        }
    }

    /// Another store of the same kind.
    pub(super) fn another(&self, store: Option<Address>) -> Self {
        Self { store, sync: self.sync }
    }
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
    counts: PartitionCounts,
    kind: Kind,
}

enum Kind {
    Sqlite {
        store: Arc<SqliteBackend>,
        /// Goes with the run.
        folder: TempDir,
    },
    /// A connection to each node.
    Valkey(Vec<redis::aio::MultiplexedConnection>),
    Postgres(Postgres),
}

impl Measured {
    /// Opens the store that the arguments name.
    pub(crate) async fn open(arguments: &StoreArguments) -> anyhow::Result<Self> {
        let open = async |address| open::open(address, &open::Options::default()).await;
        let (kind, opened) = match &arguments.store {
            Some(address @ Address::Valkey(urls)) => {
                let opened = open(address).await?;
                (Kind::Valkey(connections(urls).await?), opened)
            }
            Some(address @ Address::Postgres(urls)) => {
                let opened = open(address).await?;
                (Kind::Postgres(Postgres::connect(&urls.concat()).await?), opened)
            }
            Some(other) => {
                anyhow::bail!("{other} is no PostgreSQL or Valkey address; leave --store out for SQLite")
            }
            None => {
                let folder = tempfile::tempdir()?;
                let store = open::sqlite(&folder.path().join("bench.db"), arguments.sync.into())?;
                let opened = Opened {
                    store: Arc::clone(&store) as Arc<dyn Backend>,
                    counts: PartitionCounts::default(),
                    about: store.about(),
                };
                (Kind::Sqlite { store, folder }, opened)
            }
        };
        let name = match &kind {
            Kind::Sqlite { .. } => format!("SQLite ({:?})", arguments.sync),
            Kind::Valkey(nodes) if nodes.len() > 1 => format!("Valkey ({} nodes)", nodes.len()),
            Kind::Valkey(_) => "Valkey".to_owned(),
            Kind::Postgres(_) => "PostgreSQL".to_owned(),
        };
        Ok(Self {
            name,
            backend: Arc::new(Counted::new(opened.store)),
            counts: opened.counts,
            kind,
        })
    }

    /// An engine over the store, running.
    pub(super) fn engine(&self) -> Engine {
        open::engine(Arc::clone(&self.backend) as Arc<dyn Backend>, self.counts)
    }

    /// The server, for what there is only on PostgreSQL.
    pub(super) fn postgres(&self) -> anyhow::Result<&Postgres> {
        let found = match &self.kind {
            Kind::Postgres(server) => Some(server),
            _ => None,
        };
        found.context("this scenario looks into the tables of PostgreSQL: name one with --store postgres://…")
    }

    /// How long the store takes to answer who asks for nothing, where it is another process.
    pub(crate) async fn ping(&self) -> anyhow::Result<Option<Duration>> {
        Ok(match &self.kind {
            Kind::Sqlite { .. } => None,
            Kind::Valkey(nodes) => {
                let mut connection = nodes.first().context("no address was given")?.clone();
                let asked = Instant::now();
                redis::cmd("PING").query_async::<()>(&mut connection).await?;
                Some(asked.elapsed())
            }
            Kind::Postgres(server) => Some(server.ping().await?),
        })
    }

    /// Servers that commands are counted of.
    pub(super) fn primaries(&self) -> usize {
        match &self.kind {
            Kind::Valkey(nodes) => nodes.len(),
            _ => 1,
        }
    }

    /// Bytes that are stored, with everything that goes with them.
    pub(super) async fn stored_bytes(&self) -> anyhow::Result<u64> {
        match &self.kind {
            Kind::Sqlite { folder, .. } => {
                let files = std::fs::read_dir(folder.path())?;
                files.map(|file| Ok(file?.metadata()?.len())).sum()
            }
            Kind::Valkey(nodes) => Info::sum(nodes, "used_memory").await,
            Kind::Postgres(server) => server.stored_bytes().await,
        }
    }

    /// Connections that the store has, where it is another process.
    pub(super) async fn connections(&self) -> anyhow::Result<Option<u64>> {
        Ok(match &self.kind {
            Kind::Sqlite { .. } => None,
            Kind::Valkey(nodes) => Some(Info::sum(nodes, "connected_clients").await?),
            Kind::Postgres(server) => Some(server.connections().await?),
        })
    }

    /// What was used so far.
    pub(crate) async fn usage(&self) -> anyhow::Result<Usage> {
        let own = Usage {
            calls: self.backend.calls(),
            transactions: self.backend.transactions(),
            cpu: own_cpu().unwrap_or_default(),
            ..Usage::default()
        };
        Ok(match &self.kind {
            Kind::Sqlite { store, .. } => Usage {
                syncs: Some(store.stats().commits),
                ..own
            },
            Kind::Valkey(nodes) => {
                let (mut cpu, mut commands) = (0.0, 0.0);
                for node in nodes {
                    let info = Info::read(node.clone()).await?;
                    cpu += info.number("used_cpu_user") + info.number("used_cpu_sys");
                    commands += info.number("total_commands_processed");
                }
                Usage {
                    store_cpu: Some(Duration::from_secs_f64(cpu)),
                    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
                    valkey_commands: Some(commands as u64),
                    ..own
                }
            }
            Kind::Postgres(server) => Usage {
                store_cpu: server.cpu(),
                written: Some(server.written().await?),
                ..own
            },
        })
    }
}
