//! Registration of workers.

use serde::{Deserialize, Serialize};

use crate::capability::CapabilitySet;
use crate::name::{LaneId, Namespace, WorkerId, WorkerInstanceId};
use crate::record::Incarnation;
use crate::time::Duration;

/// Announces a worker process, or that it is still there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RegisterWorker {
    /// The tenant it works for; `default` unless given.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// The logical worker: several processes may have the same one.
    #[serde(rename = "worker_id")]
    pub worker: WorkerId,
    /// Which process slot: of each, one process is live at a time.
    #[serde(rename = "worker_instance_id")]
    pub instance: WorkerInstanceId,
    /// A UUID made at each start of the process: another live one in its slot is refused.
    pub incarnation: Incarnation,
    /// Lanes it takes work from, 1 to 1,000.
    pub lanes: Vec<LaneId>,
    /// What it offers, up to 256 tokens: it is handed only what requires nothing else.
    #[serde(default)]
    pub capabilities: CapabilitySet,
    /// How long it counts as live without being heard of, 1 s to 24 h; absent: 60 s.
    #[serde(rename = "ttl_ms")]
    pub ttl: Option<Duration>,
}

/// Says that a registered worker process is still there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Heartbeat {
    /// The process slot it registered for.
    #[serde(rename = "worker_instance_id")]
    pub instance: WorkerInstanceId,
    /// The UUID it registered with, made at each start of the process.
    pub incarnation: Incarnation,
}

/// One process slot of a namespace, with the start of the process that speaks for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedInstance {
    /// The tenant; `default` unless given.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// The slot, and the start of the process that has it.
    #[serde(rename = "..process")]
    pub process: Heartbeat,
}
