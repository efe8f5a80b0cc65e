//! What a lease holder asks for. Every one of these carries a fence.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::{BudgetId, ExecutionId};
use crate::name::{Category, Dimension, IdempotencyKey, RequestId};
use crate::payload::Payload;
use crate::record::{Fence, StopRequest};
use crate::time::{Duration, Timestamp};
use crate::wire;

/// Somebody who runs an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Which execution.
    pub execution_id: ExecutionId,
    /// Proof of its lease.
    #[serde(rename = "..fence")]
    pub fence: Fence,
}

/// Keeps the lease.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Renew {
    /// Proof of the lease.
    #[serde(rename = "..fence", deserialize_with = "wire::fence")]
    pub fence: Option<Fence>,
    /// A new time between renewals; absent: as before.
    #[serde(rename = "ttl_ms")]
    pub ttl: Option<Duration>,
}

/// A renewed lease.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Renewed {
    /// When it ends now.
    pub expires_at: Timestamp,
    /// The engine asks the worker to stop.
    pub stop_requested: Option<StopRequest>,
}

/// Gives the task back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Release {
    /// Proof of the lease.
    #[serde(rename = "..fence", deserialize_with = "wire::fence")]
    pub fence: Option<Fence>,
}

/// What became of a task its worker let go without ending it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetGo {
    /// As asked.
    Now,
    /// It was asked before under the same lease.
    Already,
    /// The flow is cancelled, so the execution was cancelled instead.
    Cancelled,
}

wire::repeatable!(LetGo, "done", Cancelled => "cancelled");

/// Says how far the work is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UpdateProgress {
    /// Proof of the lease.
    #[serde(rename = "..fence", deserialize_with = "wire::fence")]
    pub fence: Option<Fence>,
    /// 0 to 100.
    pub pct: Option<u8>,
    /// In the worker's words.
    pub message: Option<String>,
}

/// The work is done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Complete {
    /// Proof of the lease.
    #[serde(rename = "..fence", deserialize_with = "wire::fence")]
    pub fence: Option<Fence>,
    /// What came of it.
    #[serde(rename = "result:bytes")]
    pub result: Option<Payload>,
}

/// What became of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completed {
    /// It ended now.
    Now,
    /// It was completed before under the same lease.
    Already,
}

wire::repeatable!(Completed, "completed");

/// The attempt failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fail {
    /// Proof of the lease.
    #[serde(rename = "..fence", deserialize_with = "wire::fence")]
    pub fence: Option<Fence>,
    /// For a person.
    pub reason: String,
    /// For the retry policy.
    pub category: Category,
}

/// What the policy made of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Failed {
    /// It is tried again.
    RetryScheduled {
        /// When it becomes eligible.
        delay_until: Timestamp,
    },
    /// It ended.
    TerminalFailed,
    /// The flow is cancelled, so the execution was cancelled instead of being retried.
    Cancelled,
}

/// Go on later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DelayUntil {
    /// Proof of the lease.
    #[serde(rename = "..fence", deserialize_with = "wire::fence")]
    pub fence: Option<Fence>,
    /// When.
    pub until: Timestamp,
}

/// Usage to be charged to a budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportUsage {
    /// Proof of the lease.
    #[serde(rename = "..fence", deserialize_with = "wire::fence")]
    pub fence: Option<Fence>,
    /// Which budget.
    pub budget_id: BudgetId,
    /// How much, by dimension.
    pub deltas: BTreeMap<Dimension, u64>,
    /// Makes repeated reports one.
    pub dedup_key: Option<IdempotencyKey>,
    /// Makes repeated requests one.
    pub request_id: Option<RequestId>,
}
