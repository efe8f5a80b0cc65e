//! The whole conformance suite on a real file.

use std::sync::Arc;

use async_trait::async_trait;
use ff_backend::Backend;
use ff_backend::conformance::Harness;
use ff_backend_sqlite::{Durability, Options, SqliteBackend};
use ff_core::partition::PartitionCounts;
use ff_core::time::Duration;
use tempfile::TempDir;

/// A store in a directory of its own.
struct SqliteHarness {
    backend: Arc<SqliteBackend>,
    counts: PartitionCounts,
    _directory: TempDir,
}

#[async_trait]
impl Harness for SqliteHarness {
    fn backend(&self) -> Arc<dyn Backend> {
        self.backend.clone()
    }

    async fn advance(&self, by: Duration) {
        self.backend.advance_clock(by);
    }

    fn counts(&self) -> PartitionCounts {
        self.counts
    }

    fn feed_lines_max(&self) -> Option<usize> {
        None
    }
}

/// What is tested here is what is stored, not when it reaches the disk.
async fn make() -> SqliteHarness {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        durability: Durability::Normal,
        ..Options::new(directory.path().join("store.db"))
    };
    SqliteHarness {
        backend: Arc::new(SqliteBackend::open(&options).unwrap()),
        counts: options.counts,
        _directory: directory,
    }
}

ff_backend::conformance_suite!(make);
