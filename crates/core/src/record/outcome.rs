//! How an execution ended.

use serde::{Deserialize, Serialize};

use super::{Failure, is_default};
use crate::time::Timestamp;

/// The end of an execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Which end.
    pub kind: OutcomeKind,
    /// When.
    pub at: Timestamp,
    /// What went wrong, for a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Why it was cancelled, expired or skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who cancelled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_source: Option<CancelSource>,
    /// When it may be deleted; absent: members live as long as their flow, others as long as their policy says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete_at: Option<Timestamp>,
    /// Its retention is over and its parts are being deleted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub deleting: bool,
}

/// What the last success of an execution left: children are handed its result until a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Success {
    /// Bytes of its result; absent: it had none, whatever an earlier success left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_bytes: Option<u64>,
    /// A later run ended otherwise: the execution has no result of its own until it succeeds again.
    #[serde(default, skip_serializing_if = "is_default")]
    pub superseded: bool,
}

/// The five ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// The work was done.
    Success,
    /// It failed for good.
    Failed,
    /// It was cancelled.
    Cancelled,
    /// Its deadline, or a suspension that expires, came first.
    Expired,
    /// It never ran because what it depends on did not come true.
    Skipped,
}

/// Who cancelled an execution: derived from the caller, never given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CancelSource {
    /// A person or a client.
    OperatorOverride,
    /// The worker that ran it.
    LeaseHolder,
    /// Its flow, or a group that no longer needs it.
    FlowCascade,
    /// A timer: a suspension that cancels at its timeout, or a budget's stop request that was not followed.
    SystemTimeout,
}
