//! An engine over an embedded store.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use ff_backend_sqlite::{Durability, Options, SqliteBackend};
use ff_core::partition::PartitionCounts;
use ff_engine::{Config, Engine, TokioHost};

/// The store at `path`, created when it is not there.
pub(crate) fn store(path: &Path, durability: Durability) -> anyhow::Result<Arc<SqliteBackend>> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    let options = Options {
        durability,
        ..Options::new(path)
    };
    Ok(Arc::new(SqliteBackend::open(&options)?))
}

/// An engine over `store`, running.
pub(crate) fn engine(store: Arc<dyn ff_backend::Backend>) -> Engine {
    let config = Config::new(PartitionCounts::default());
    let engine = Engine::new(store, Arc::new(TokioHost::new()), config);
    engine.start();
    engine
}
