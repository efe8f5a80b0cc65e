//! An engine over the store that an address names.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use anyhow::Context;
use ff_backend::Backend;
use ff_backend_sqlite::{Durability, SqliteBackend};
use ff_backend_valkey::ValkeyBackend;
use ff_core::partition::PartitionCounts;
use ff_engine::{Config, Engine, TokioHost};

/// What the addresses of Valkey begin with.
const VALKEY: [&str; 4] = ["valkey://", "valkeys://", "redis://", "rediss://"];

/// Where a store is.
#[derive(Clone)]
pub(crate) enum Address {
    /// A SQLite file.
    File(PathBuf),
    /// A Valkey server, or some nodes of a cluster.
    Valkey(Vec<String>),
}

impl FromStr for Address {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_valkey = VALKEY.iter().any(|scheme| text.starts_with(scheme));
        Ok(if is_valkey {
            Self::Valkey(text.split(',').map(str::to_owned).collect())
        } else {
            Self::File(text.into())
        })
    }
}

/// An address may carry a password: what is shown names the kind of store, and the file.
impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(f, "{} (SQLite)", path.display()),
            Self::Valkey(_) => f.write_str("Valkey"),
        }
    }
}

/// The store at `address`, created when it is not there.
pub(crate) async fn backend(address: &Address) -> anyhow::Result<Arc<dyn Backend>> {
    Ok(match address {
        Address::File(path) => sqlite(path, Durability::Full)?,
        Address::Valkey(urls) => valkey(urls).await?,
    })
}

/// The SQLite store at `path`.
pub(crate) fn sqlite(path: &Path, durability: Durability) -> anyhow::Result<Arc<SqliteBackend>> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    let options = ff_backend_sqlite::Options {
        durability,
        ..ff_backend_sqlite::Options::new(path)
    };
    Ok(Arc::new(SqliteBackend::open(&options)?))
}

/// The store on Valkey.
pub(crate) async fn valkey(urls: &[String]) -> anyhow::Result<Arc<ValkeyBackend>> {
    let options = ff_backend_valkey::Options {
        urls: urls.to_vec(),
        ..ff_backend_valkey::Options::new("")
    };
    Ok(Arc::new(ValkeyBackend::open(&options).await?))
}

/// An engine over `store`, running.
pub(crate) fn engine(store: Arc<dyn Backend>) -> Engine {
    let config = Config::new(PartitionCounts::default());
    let engine = Engine::new(store, Arc::new(TokioHost::new()), config);
    engine.start();
    engine
}
