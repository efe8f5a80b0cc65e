//! How a store is opened.

use std::path::PathBuf;

use ff_core::partition::PartitionCounts;

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// The database file; created with mode 0600 when it is not there.
    pub path: PathBuf,
    /// When an acknowledged commit is on disk.
    pub durability: Durability,
    /// Partition counts of a new store; an existing one must have been created with the same.
    pub counts: PartitionCounts,
    /// Connections that answer reads beside the writer.
    pub readers: usize,
    /// Lines of the event feed kept per partition, on average over the partitions.
    pub feed_lines_max: usize,
}

/// When an acknowledged commit is on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Synced before it is acknowledged: it survives a power cut. Concurrent callers share one sync.
    #[default]
    Full,
    /// Synced a little later: a crash of the process loses nothing, a crash of the machine may lose the last commits.
    Normal,
}

impl Options {
    /// The defaults for a store at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            durability: Durability::Full,
            counts: PartitionCounts::default(),
            readers: 2,
            feed_lines_max: 100_000,
        }
    }
}

impl Durability {
    pub(crate) const fn pragma(self) -> &'static str {
        match self {
            Durability::Full => "FULL",
            Durability::Normal => "NORMAL",
        }
    }
}
