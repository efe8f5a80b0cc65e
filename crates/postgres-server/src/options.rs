//! How a server is set up.

/// How a server is set up; the default is fast and keeps what was committed when it is killed, but not when the machine is.
#[derive(Clone, Default)]
pub struct Options {
    fsync: bool,
    settings: Vec<(String, String)>,
}

impl Options {
    /// Whether commits are forced to disk before they are answered. A server that does is on a disk; others are in memory
    /// where the system has room for them.
    #[must_use]
    pub fn fsync(mut self, fsync: bool) -> Self {
        self.fsync = fsync;
        self
    }

    /// Any other setting; what is set last holds, also over the defaults of this crate.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn on_disk(&self) -> bool {
        self.fsync
    }

    /// The settings as command-line arguments.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let defaults = [
            ("listen_addresses", "127.0.0.1"),
            // Clients come over TCP, so there is no socket file whose name could clash or be too long.
            ("unix_socket_directories", ""),
            ("fsync", if self.fsync { "on" } else { "off" }),
            // Tests run side by side, each with a pool of connections.
            ("max_connections", "200"),
            ("shared_buffers", "32MB"),
            // A standby that misses its primary once would wait five seconds before it looks again.
            ("wal_retrieve_retry_interval", "50ms"),
            // In its directory, which is removed; elsewhere a killed server would leave megabytes behind.
            ("dynamic_shared_memory_type", "mmap"),
            // The log is in memory too.
            ("max_wal_size", "256MB"),
        ];
        let chosen = self
            .settings
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        defaults
            .into_iter()
            .chain(chosen)
            .flat_map(|(name, value)| ["-c".to_owned(), format!("{name}={value}")])
            .collect()
    }
}
