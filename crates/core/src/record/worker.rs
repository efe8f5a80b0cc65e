//! Workers and lanes: small shared state, kept in the settings of the store.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Carried;
use crate::capability::CapabilitySet;
use crate::command::submit::LaneState;
use crate::name::{LaneId, Namespace, WorkerId, WorkerInstanceId};
use crate::time::{Duration, Timestamp};

/// One process slot of a worker, as it registered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Worker {
    /// The tenant it works for.
    pub namespace: Namespace,
    /// The logical worker: several processes may have the same one.
    #[serde(rename = "worker_id")]
    pub worker: WorkerId,
    /// Which process slot: of each, one process is live at a time.
    #[serde(rename = "worker_instance_id")]
    pub instance: WorkerInstanceId,
    /// A UUID made at each start of the process.
    pub incarnation: Incarnation,
    /// Lanes it takes work from.
    pub lanes: Vec<LaneId>,
    /// What it offers: it is handed only what requires nothing else.
    pub capabilities: CapabilitySet,
    /// When it registered; registering again while live does not change it.
    pub registered_at: Timestamp,
    /// When it last registered, claimed or sent a heartbeat.
    pub seen_at: Timestamp,
    /// How long after that it counts as gone.
    #[serde(rename = "ttl_ms")]
    pub ttl: Duration,
    /// How many tasks it runs at once at most; absent: it did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<u32>,
    /// How many it ran when it last said; absent: it did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<u32>,
    /// Which version of its code it is; absent: it did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// It is to finish what it has: it is handed nothing more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain: Option<Drain>,
    /// What a later format holds besides.
    #[serde(skip)]
    pub carried: Carried,
}

/// Why a worker process is handed nothing more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Drain {
    /// As whoever asked for it said, for a person.
    pub reason: String,
    /// Since when.
    pub since: Timestamp,
}

/// Names one start of a worker process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Incarnation(pub Uuid);

impl Worker {
    /// Whether it has been heard of recently enough.
    pub fn is_live(&self, now: Timestamp) -> bool {
        !(self.seen_at + self.ttl).has_come(now)
    }

    /// Whether work of this lane is handed to it now.
    pub fn takes(&self, (namespace, lane): (&Namespace, &LaneId), now: Timestamp) -> bool {
        self.is_live(now) && self.drain.is_none() && self.namespace == *namespace && self.lanes.contains(lane)
    }
}

/// Whether one of some workers is handed work of a lane now, and offers all that is required.
pub fn has_capable(workers: &[Worker], lane: (&Namespace, &LaneId), required: &CapabilitySet, now: Timestamp) -> bool {
    workers
        .iter()
        .any(|worker| worker.takes(lane, now) && worker.capabilities.covers(required))
}

/// A queue of a namespace, created on first use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lane {
    /// The tenant: lanes of the same name in two namespaces have nothing to do with each other.
    pub namespace: Namespace,
    /// As submissions and claims name it.
    #[serde(rename = "lane_id")]
    pub lane: LaneId,
    /// Whether it accepts and hands out.
    pub state: LaneState,
    /// When it was first used.
    pub created_at: Timestamp,
    /// When its state last changed.
    pub updated_at: Timestamp,
    /// What a later format holds besides.
    #[serde(skip)]
    pub carried: Carried,
}
