//! Small shared state: partition counts, signing keys, workers, lanes, API keys.

use ff_core::time::{Duration, Timestamp};
use serde_json::Value;

/// One operation on the settings; a call runs several, each atomic.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingsOp {
    /// Reads one setting.
    Get {
        /// Its name.
        key: String,
    },
    /// Reads the settings whose name starts with a prefix, in order of their names.
    List {
        /// The prefix.
        prefix: String,
        /// Only names after this one.
        after: Option<String>,
        /// At most this many.
        limit: usize,
    },
    /// Writes a setting, or deletes it.
    Put {
        /// Its name.
        key: String,
        /// Its value; `None`: it is to be gone.
        value: Option<Value>,
        /// What it must be now.
        expected: Expected,
        /// Gone by itself after this long.
        ttl: Option<Duration>,
    },
}

impl SettingsOp {
    /// Deletes a setting that is what it must be.
    pub const fn delete(key: String, expected: Expected) -> Self {
        Self::Put {
            key,
            value: None,
            expected,
            ttl: None,
        }
    }
}

/// What a setting must be for a write to go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Whatever it is.
    Anything,
    /// It must not exist.
    Absent,
    /// It must have this revision.
    Revision(u64),
}

impl Expected {
    /// Whether a setting is what it must be; `None`: there is none.
    pub fn is_met_by(self, found: Option<&Setting>) -> bool {
        match self {
            Expected::Anything => true,
            Expected::Absent => found.is_none(),
            Expected::Revision(revision) => found.is_some_and(|found| found.revision == revision),
        }
    }
}

/// A setting as it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Its name.
    pub key: String,
    /// Its value.
    pub value: Value,
    /// Moves with every write, and never takes a value again that it had, even after a deletion.
    pub revision: u64,
    /// When it was written.
    pub updated_at: Timestamp,
    /// When it is gone by itself.
    pub expires_at: Option<Timestamp>,
}

/// The answer to one settings operation.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingsReply {
    /// What was read, or what was written.
    Found(Setting),
    /// There is no such setting, or it was deleted.
    Absent,
    /// The settings of a list.
    Page(Vec<Setting>),
    /// The setting is not what was expected; nothing was done.
    Conflict(Option<Setting>),
}
