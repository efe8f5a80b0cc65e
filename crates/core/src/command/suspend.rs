//! suspend: what a worker waits for once it gives up its lease.

use serde::{Deserialize, Serialize};

use crate::id::{SignalId, SuspensionId, WaitpointId};
use crate::name::{IdempotencyKey, WaitpointKey};
use crate::record::{Fence, ReasonCode, ResumeCondition, TimeoutBehavior, WaitpointRef};
use crate::time::{Duration, Timestamp};
use crate::wire;

/// Gives up the lease until a condition over signals holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suspend {
    /// Proof of the lease.
    #[serde(rename = "..fence", deserialize_with = "wire::fence")]
    pub fence: Option<Fence>,
    /// Where signals arrive, at least one.
    pub waitpoints: Vec<WaitpointChoice>,
    /// What must hold for the execution to go on.
    pub resume_condition: ResumeCondition,
    /// Why it waits.
    pub reason_code: ReasonCode,
    /// When waiting ends; absent: as the policy says, or never.
    pub timeout_at: Option<Timestamp>,
    /// What happens then; absent: as the policy says, or `fail`.
    pub timeout_behavior: Option<TimeoutBehavior>,
    /// Pause between the condition holding and the execution being eligible.
    #[serde(rename = "resume_delay_ms", default)]
    pub resume_delay: Duration,
    /// Tells a repetition from another suspend under the same lease.
    pub idempotency_key: Option<IdempotencyKey>,
    /// Fresh id of the suspension.
    pub suspension_id: SuspensionId,
}

/// A waitpoint of a suspension: made with it, or handed out before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitpointChoice {
    /// Made by the suspend.
    Fresh {
        /// The worker's own name for it.
        waitpoint_key: WaitpointKey,
        /// Fresh id.
        waitpoint_id: WaitpointId,
    },
    /// Handed out by create_pending_waitpoint; signals that came early count.
    UsePending {
        /// Which one.
        waitpoint_id: WaitpointId,
    },
}

/// What became of a suspend.
#[derive(Clone, Debug, PartialEq)]
pub enum SuspendOutcome {
    /// The lease is gone; signals to these waitpoints are awaited.
    Suspended {
        /// The suspension.
        suspension_id: SuspensionId,
        /// Its waitpoints in the order they were asked for, with all that their tokens vouch for.
        waitpoints: Vec<WaitpointRef>,
    },
    /// Early signals meet the condition: the worker keeps its lease and goes on.
    AlreadySatisfied {
        /// The signals that counted, in order.
        signals: Vec<SignalId>,
    },
    /// The flow is cancelled, so the execution was cancelled instead.
    Cancelled,
}
