//! Suspensions: what an execution waits for once it gave up its lease.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{StepSignal, is_default};
use crate::digest::Digest;
use crate::id::{SignalId, SuspensionId, WaitpointId};
use crate::name::{SignalName, StepKey, WaitpointKey};
use crate::time::{Duration, Timestamp};

/// An open suspension.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suspension {
    /// Given by the worker, or derived from its request.
    pub id: SuspensionId,
    /// The places its signals arrive at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waitpoints: Vec<WaitpointRef>,
    /// What must hold for the execution to go on.
    #[serde(rename = "resume_condition")]
    pub condition: ResumeCondition,
    /// What has arrived, per leaf of the condition in reading order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub progress: Vec<NodeProgress>,
    /// Signals that counted, in the order they came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matched: Vec<SignalId>,
    /// Why it waits, as its worker said.
    pub reason_code: ReasonCode,
    /// When the worker gave up its lease.
    pub since: Timestamp,
    /// When waiting ends by itself; absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_at: Option<Timestamp>,
    /// What happens to the execution then.
    pub timeout_behavior: TimeoutBehavior,
    /// Pause between the condition holding and the execution being eligible.
    #[serde(rename = "resume_delay_ms")]
    pub resume_delay: Duration,
    /// The timeout passed and a person was called.
    #[serde(default, skip_serializing_if = "is_default")]
    pub escalated: bool,
    /// The handler's wait that it is; absent: it is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<WaitStep>,
}

/// A wait of a handler that is not over: what its step will say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitStep {
    /// The worker's name for it.
    pub key: StepKey,
    /// Its place among the steps.
    pub seq: u64,
    /// The signals that counted so far, in the order they came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<StepSignal>,
}

/// A waitpoint as its suspension knows it: all that its token vouches for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitpointRef {
    /// What signals to it name it by.
    #[serde(rename = "waitpoint_id")]
    pub id: WaitpointId,
    /// The worker's own name for it, which the resume condition uses.
    #[serde(rename = "waitpoint_key")]
    pub key: WaitpointKey,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What must hold for a suspended execution to go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ResumeCondition {
    /// One signal at one waitpoint.
    Single {
        /// The waitpoint it must arrive at, one of this suspension's.
        waitpoint_key: WaitpointKey,
        /// Which signals will do.
        matcher: Matcher,
    },
    /// Only an operator resumes it.
    OperatorOnly,
    /// Only its timeout resumes it; it needs one.
    TimeoutOnly,
    /// Every one of these, at least one; conditions nest at most 4 deep and have at most 100 parts.
    AllOf(Vec<ResumeCondition>),
    /// Enough signals, counted apart.
    Count {
        /// How many, 1 to 1,000.
        n: u32,
        /// What makes two signals two.
        distinct: Distinct,
        /// Which signals count; absent: any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        matcher: Option<Matcher>,
        /// The waitpoints they may arrive at: at least one, each of this suspension.
        waitpoints: Vec<WaitpointKey>,
    },
}

/// Which signals a condition counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Matcher {
    /// Only signals of this name.
    ByName(SignalName),
    /// Signals of any of these names, 1 to 16.
    ByNames(BTreeSet<SignalName>),
    /// Every signal.
    Any,
}

/// What makes two signals count as two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Distinct {
    /// They arrived at different waitpoints.
    Waitpoints,
    /// They are different signals.
    Signals,
    /// They came from different sources that somebody vouches for; all other sources are one together.
    Sources,
}

/// What a leaf of the condition has seen so far: one entry per thing counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeProgress(pub BTreeSet<String>);

/// Why an execution suspended, as its worker says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReasonCode {
    /// Any signal.
    WaitingForSignal,
    /// A person's yes or no.
    WaitingForApproval,
    /// A callback of another system.
    WaitingForCallback,
    /// The result of a tool.
    WaitingForToolResult,
    /// A person is to look at it; it is listed among the approvals.
    OperatorReview,
    /// Paused on purpose until a person lets it go on; it is listed among the approvals.
    ManualPause,
    /// A rule paused it; shown as `paused_by_policy`.
    Policy,
    /// Money ran out; shown as `waiting_for_budget`.
    Budget,
}

/// What happens when a suspension times out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TimeoutBehavior {
    /// The execution fails, category `timeout`, without retry.
    Fail,
    /// The execution is cancelled.
    Cancel,
    /// The execution expires.
    Expire,
    /// It resumes whatever the condition says, with a signal named `timeout`.
    AutoResumeWithTimeoutSignal,
    /// It stays suspended and is shown to a person first.
    Escalate,
}

/// What ended the last suspension; the next task carries it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resumed {
    /// The suspension that ended.
    pub suspension_id: SuspensionId,
    /// The signals that counted, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<SignalId>,
    /// The place of its step, if it was a wait of a handler: the task brings the signals there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_seq: Option<u64>,
    /// When the condition held.
    pub at: Timestamp,
    /// By an operator, by time, or by signals.
    pub by: ResumedBy,
    /// What the suspend asked for, when early signals met its condition: it kept its lease, and only this tells its
    /// repetition from another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Digest>,
}

/// Who or what resumed an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ResumedBy {
    /// Its condition held.
    Signals,
    /// An operator, whatever its condition said.
    Operator,
    /// Its timeout, with a signal named `timeout`.
    Timeout,
}
