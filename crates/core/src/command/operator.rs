//! What a person or an orchestrator asks for about one execution.

use serde::{Deserialize, Serialize};

use crate::capability::CapabilitySet;
use crate::name::{RequestId, WorkerId, WorkerInstanceId};
use crate::record::{Fence, Tags};
use crate::time::Duration;
use crate::wire;

/// Ends an execution from any state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CancelExecution {
    /// For a person, up to 4 KiB; reads of the execution show it.
    pub reason: String,
    /// Proof of the lease, when its own worker cancels it.
    #[cfg_attr(feature = "schema", schemars(extend("x-may-be-absent" = true)))]
    #[serde(rename = "..fence", deserialize_with = "wire::fence")]
    pub fence: Option<Fence>,
}

/// What became of a cancellation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// It ended now.
    Now,
    /// It was cancelled before.
    Already,
}

wire::repeatable!(Cancelled, "cancelled");

/// Takes the lease away from its worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RevokeLease {
    /// For a person, up to 4 KiB; kept in the history.
    pub reason: Option<String>,
    /// Only the lease with this epoch; if it is over, the answer is `already_satisfied`.
    pub expected_lease_epoch: Option<u64>,
    /// Makes repeated requests one; the last 16 ids are remembered.
    pub request_id: Option<RequestId>,
}

/// What became of a revocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Revoked {
    /// The lease ended now.
    #[serde(rename = "revoked")]
    Now,
    /// That lease had ended before.
    AlreadySatisfied,
    /// The flow is cancelled, so the execution was cancelled with its lease.
    Cancelled,
}

/// Promises a lost execution to a given worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IssueReclaimGrant {
    /// Who takes over; only this worker can redeem the grant.
    #[serde(rename = "worker_id")]
    pub worker: WorkerId,
    /// In which process slot of that worker.
    #[serde(rename = "worker_instance_id")]
    pub instance: WorkerInstanceId,
    /// What it offers; it must be all that the execution requires.
    #[serde(default)]
    pub capabilities: CapabilitySet,
    /// How long the grant lasts, 1 ms to 60 s; absent: 5 s.
    #[serde(rename = "grant_ttl_ms")]
    pub grant_ttl: Option<Duration>,
}

/// Changes where an execution stands in its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangePriority {
    /// 0 to 9,000, higher first.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::text::priority))]
    pub priority: u16,
}

/// Keeps an execution from being handed out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HoldExecution {
    /// For a person, up to 4 KiB; shown as why the execution waits.
    pub reason: Option<String>,
}

/// Replaces the tags of an execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetTags {
    /// All of its tags, up to 64: keys match `[a-z][a-z0-9_.-]{0,127}`, values have up to 1 KiB.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::text::tags))]
    pub tags: Tags,
}

/// The tags of an execution or flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tagged {
    /// All of its tags, by key.
    pub tags: Tags,
}

/// What became of a change that may have been made before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Changed {
    /// Changed now.
    #[serde(rename = "changed")]
    Now,
    /// It was like that already.
    #[serde(rename = "unchanged")]
    Already,
}
