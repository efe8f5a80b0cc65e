//! How a server is read.

use serde::{Deserialize, Serialize};

use crate::time::{Duration, Timestamp};

/// What a server is, what it can do and how much it takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerInfo {
    /// What kind of server: `flowfabric`.
    pub server: String,
    /// Its own version.
    pub version: String,
    /// The version of the interface, as `1.0`.
    pub api: String,
    /// What it can do that servers of this interface could not always.
    pub features: Vec<String>,
    /// How much it takes.
    pub limits: ServerLimits,
    /// `real`; `virtual` when tests move its time.
    pub clock: String,
    /// The store's time, to compare other times with.
    pub server_time: Timestamp,
}

/// How much a server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerLimits {
    /// Largest input or result.
    pub payload_bytes: usize,
    /// Steps that one execution may have recorded; 0: the server does not know of steps.
    #[serde(default)]
    pub steps: u64,
    /// Bytes that the steps of one execution may leave together.
    #[serde(default)]
    pub step_output_bytes: u64,
    /// Largest payload of a signal.
    pub signal_payload_bytes: usize,
    /// Largest frame.
    pub frame_bytes: usize,
    /// How deep JSON may nest.
    pub json_depth: usize,
    /// Most items of a batch.
    pub batch_items: usize,
    /// Largest page of a listing.
    pub page_items: usize,
    /// Longest a request may wait.
    #[serde(rename = "wait_ms")]
    pub wait: Duration,
    /// Most streams of one key at once.
    pub streams_per_key: usize,
    /// Most waiting requests of one key at once.
    pub parked_polls_per_key: usize,
}
