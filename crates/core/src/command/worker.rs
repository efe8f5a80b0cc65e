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
    /// The tenant it works for; unless given that of the key, or else `default`.
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
    /// How busy it is, and what it runs.
    #[serde(rename = "..load")]
    pub load: WorkerLoad,
}

/// What a worker process says about itself, for whoever looks after it. What is absent stays as it was said before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkerLoad {
    /// How many tasks it runs at once at most.
    pub slots: Option<u32>,
    /// How many it runs now.
    pub running: Option<u32>,
    /// Which version of its code it is, 1 to 256 bytes.
    pub version: Option<String>,
}

impl WorkerLoad {
    /// The same, with what was said before where it says nothing.
    #[must_use]
    pub fn or(self, before: WorkerLoad) -> Self {
        Self {
            slots: self.slots.or(before.slots),
            running: self.running.or(before.running),
            version: self.version.or(before.version),
        }
    }
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
    /// The tenant; unless given that of the key, or else `default`.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// The slot, and the start of the process that has it.
    #[serde(rename = "..process")]
    pub process: Heartbeat,
}

/// Says that a registered worker process is still there, and how it fares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SendHeartbeat {
    /// The tenant; unless given that of the key, or else `default`.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// The slot, and the start of the process that has it.
    #[serde(rename = "..process")]
    pub process: Heartbeat,
    /// How busy it is, and what it runs.
    #[serde(rename = "..load")]
    pub load: WorkerLoad,
}

impl From<NamedInstance> for SendHeartbeat {
    fn from(named: NamedInstance) -> Self {
        Self {
            namespace: named.namespace,
            process: named.process,
            load: WorkerLoad::default(),
        }
    }
}

/// Lets a worker process finish what it has and gives it nothing more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DrainWorker {
    /// The tenant; unless given that of the key, or else `default`.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// The process slot.
    #[serde(rename = "worker_instance_id")]
    pub instance: WorkerInstanceId,
    /// Why, for a person: up to 4 KiB.
    pub reason: String,
}

/// Gives a worker process work again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UndrainWorker {
    /// The tenant; unless given that of the key, or else `default`.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// The process slot.
    #[serde(rename = "worker_instance_id")]
    pub instance: WorkerInstanceId,
}
