//! How a store is opened.

use std::time::Duration;

use ff_core::partition::PartitionCounts;

/// Lines a partition's feed keeps unless told otherwise.
const FEED_LINES_MAX: u32 = 4_000;
/// A failover and the loading of large data take less.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where the store is and how it is laid out.
#[derive(Clone)]
pub struct Options {
    /// Addresses: `valkey://user:password@host:port/database`, `valkeys://` with TLS; `redis://` and `rediss://` mean the
    /// same. In cluster mode some of the nodes are enough.
    ///
    /// Certificates are checked against those the system trusts, or those in the file that `SSL_CERT_FILE` names.
    pub urls: Vec<String>,
    /// How many partitions there are; checked against what the store was created with.
    pub counts: PartitionCounts,
    /// Lines a partition's feed keeps.
    pub feed_lines_max: u32,
    /// How long opening waits for servers that start, load their data, fail over or are being upgraded.
    pub patience: Duration,
}

impl Options {
    /// The store at `url`, with everything else as it is by default.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            urls: vec![url.into()],
            counts: PartitionCounts::default(),
            feed_lines_max: FEED_LINES_MAX,
            patience: PATIENCE,
        }
    }
}

impl std::fmt::Debug for Options {
    /// An address may carry a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("urls", &self.urls.len())
            .field("counts", &self.counts)
            .field("feed_lines_max", &self.feed_lines_max)
            .field("patience", &self.patience)
            .finish()
    }
}
