//! Registration of workers.

use crate::capability::CapabilitySet;
use crate::name::{LaneId, Namespace, WorkerId, WorkerInstanceId};
use crate::record::Incarnation;
use crate::time::Duration;

/// Announces a worker process, or that it is still there.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterWorker {
    /// The tenant it works for.
    pub namespace: Namespace,
    /// The logical worker.
    pub worker: WorkerId,
    /// Which process slot.
    pub instance: WorkerInstanceId,
    /// Which start of the process.
    pub incarnation: Incarnation,
    /// Lanes it takes work from, at least one.
    pub lanes: Vec<LaneId>,
    /// What it offers.
    pub capabilities: CapabilitySet,
    /// How long it counts as live without being heard of; absent: twice the default lease time.
    pub ttl: Option<Duration>,
}

/// Says that a registered worker process is still there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// Which process slot.
    pub instance: WorkerInstanceId,
    /// Which start of the process.
    pub incarnation: Incarnation,
}

/// One process slot of a namespace, with the start of the process that speaks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedInstance {
    /// The tenant.
    pub namespace: Namespace,
    /// Which process.
    pub process: Heartbeat,
}
