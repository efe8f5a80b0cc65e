//! Registration of workers.

use serde::{Deserialize, Serialize};

use crate::capability::CapabilitySet;
use crate::name::{LaneId, Namespace, WorkerId, WorkerInstanceId};
use crate::record::Incarnation;
use crate::time::Duration;

/// Announces a worker process, or that it is still there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegisterWorker {
    /// The tenant it works for.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// The logical worker.
    #[serde(rename = "worker_id")]
    pub worker: WorkerId,
    /// Which process slot.
    #[serde(rename = "worker_instance_id")]
    pub instance: WorkerInstanceId,
    /// Which start of the process.
    pub incarnation: Incarnation,
    /// Lanes it takes work from, at least one.
    pub lanes: Vec<LaneId>,
    /// What it offers.
    #[serde(default)]
    pub capabilities: CapabilitySet,
    /// How long it counts as live without being heard of; absent: twice the default lease time.
    #[serde(rename = "ttl_ms")]
    pub ttl: Option<Duration>,
}

/// Says that a registered worker process is still there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// Which process slot.
    #[serde(rename = "worker_instance_id")]
    pub instance: WorkerInstanceId,
    /// Which start of the process.
    pub incarnation: Incarnation,
}

/// One process slot of a namespace, with the start of the process that speaks for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedInstance {
    /// The tenant.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// Which process.
    #[serde(rename = "..process")]
    pub process: Heartbeat,
}
