//! How a store is opened.

use std::time::Duration;

use ff_core::partition::PartitionCounts;

/// Connections that calls share unless told otherwise.
pub const CONNECTIONS_MAX: usize = 8;
/// A failover takes less.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where the store is and how it is laid out.
#[derive(Clone)]
pub struct Options {
    /// `postgres://user:password@host:port/database?sslmode=require`, or as libpq has it: `host=… user=… dbname=…`. Several hosts may be
    /// named, of which the one that takes writes is used.
    pub url: String,
    /// How many partitions there are; checked against what the store was created with.
    pub counts: PartitionCounts,
    /// Connections that calls share, `postgres_connections_max` in the settings of a server. One more is kept to listen on.
    pub connections_max: usize,
    /// How long opening waits for a server that starts, recovers or fails over.
    pub patience: Duration,
    /// Uses a server that may lose acknowledged writes when its machine fails (`fsync=off`, or `synchronous_commit` below `local`).
    pub may_lose_writes: bool,
}

impl Options {
    /// The store at `url`, with everything else as it is by default.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            counts: PartitionCounts::default(),
            connections_max: CONNECTIONS_MAX,
            patience: PATIENCE,
            may_lose_writes: false,
        }
    }
}

impl std::fmt::Debug for Options {
    /// An address may carry a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("counts", &self.counts)
            .field("connections_max", &self.connections_max)
            .field("patience", &self.patience)
            .field("may_lose_writes", &self.may_lose_writes)
            .finish_non_exhaustive()
    }
}
