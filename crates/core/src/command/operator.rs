//! What a person or an orchestrator asks for about one execution.

use serde::{Deserialize, Serialize};

use crate::capability::CapabilitySet;
use crate::name::{RequestId, WorkerId, WorkerInstanceId};
use crate::record::{Fence, Tags};
use crate::time::Duration;
use crate::wire;

/// Ends an execution from any state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CancelExecution {
    /// Why.
    pub reason: String,
    /// Proof of the lease, when its own worker cancels it.
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
pub struct RevokeLease {
    /// Why.
    pub reason: Option<String>,
    /// Only this lease.
    pub expected_lease_epoch: Option<u64>,
    /// Makes repeated requests one.
    pub request_id: Option<RequestId>,
}

/// What became of a revocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
pub struct IssueReclaimGrant {
    /// Who takes over.
    #[serde(rename = "worker_id")]
    pub worker: WorkerId,
    /// In which process slot.
    #[serde(rename = "worker_instance_id")]
    pub instance: WorkerInstanceId,
    /// What it offers.
    #[serde(default)]
    pub capabilities: CapabilitySet,
    /// How long the grant lasts; absent: 5 s.
    #[serde(rename = "grant_ttl_ms")]
    pub grant_ttl: Option<Duration>,
}

/// Changes where an execution stands in its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangePriority {
    /// 0 to 9,000, higher first.
    pub priority: u16,
}

/// Keeps an execution from being handed out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HoldExecution {
    /// Why.
    pub reason: Option<String>,
}

/// Replaces the tags of an execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SetTags {
    /// All of its tags.
    pub tags: Tags,
}

/// The tags of an execution or flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tagged {
    /// All of its tags.
    pub tags: Tags,
}

/// What became of a change that may have been made before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Changed {
    /// Changed now.
    #[serde(rename = "changed")]
    Now,
    /// It was like that already.
    #[serde(rename = "unchanged")]
    Already,
}
