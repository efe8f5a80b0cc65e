//! Signals and what else ends a suspension: deliver_signal, approve, reject, resume_execution.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::command::page::PageRequest;
use crate::error::Rejection;
use crate::id::{ExecutionId, SignalId, WaitpointId};
use crate::name::{
    Dimension, ExecutionKind, IdempotencyKey, Identity, LaneId, Namespace, RequestId, SignalName, WaitpointKey,
};
use crate::payload::Payload;
use crate::record::{Execution, ReasonCode, SignalEffect, WaitpointRef};
use crate::time::Timestamp;
use crate::token::WaitpointToken;
use crate::view::{StepTotals, check_values, is_one_of};
use crate::wire;

/// Delivers an event to a waitpoint. Its token was checked, or the caller is privileged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeliverSignal {
    /// The waitpoint it goes to, which belongs to this execution.
    pub waitpoint_id: WaitpointId,
    /// The sender's id for it, which makes repeated deliveries one; minted when absent.
    pub signal_id: Option<SignalId>,
    /// What it is called: resume conditions can ask for signals by name.
    pub signal_name: SignalName,
    /// The sender's class for it, up to 256 bytes; absent: `event`. No condition looks at it.
    #[serde(default = "event")]
    pub category: String,
    /// What kind of thing sends it, up to 256 bytes; absent: `external`.
    #[serde(default = "external")]
    pub source_type: String,
    /// Who the sender says it is. A caller with a credential is whoever that says instead.
    #[serde(default = "Identity::anonymous")]
    pub source_identity: Identity,
    /// What comes with it, up to 256 KiB; if the signal counts, the next task is handed it.
    #[serde(rename = "payload:bytes", default)]
    pub payload: Payload,
    /// Makes repeated deliveries one.
    pub idempotency_key: Option<IdempotencyKey>,
    /// The sender's id for tying things together, up to 256 bytes; the engine only keeps it.
    pub correlation_id: Option<String>,
}

fn event() -> String {
    "event".to_owned()
}

fn external() -> String {
    "external".to_owned()
}

/// A signal with the token of its waitpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SendSignal {
    /// Proof that the sender was given the waitpoint. A secret: whoever has it can send signals.
    pub waitpoint_token: WaitpointToken,
    /// The signal.
    #[serde(rename = "..signal")]
    pub signal: DeliverSignal,
}

/// What became of a signal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Delivered {
    /// It is kept, and this is what it did.
    Accepted {
        /// As given, or minted.
        signal_id: SignalId,
        /// Whether it resumed the execution, was only kept, or was not asked for.
        effect: SignalEffect,
    },
    /// A signal of this id or idempotency key was delivered before, or somebody else decided before; this one did nothing.
    Duplicate {
        /// The id of the first one.
        existing_signal_id: SignalId,
        /// Of a decision: who decided first.
        by: Option<Identity>,
        /// Of a decision: whether a key vouches for who that is.
        verified: Option<bool>,
        /// Of a decision: what was decided first.
        verdict: Option<Verdict>,
        /// Of a decision: when.
        at: Option<Timestamp>,
    },
}

impl Delivered {
    /// The answer to a signal that was delivered before, under this id.
    pub const fn before(existing_signal_id: SignalId) -> Self {
        Self::Duplicate {
            existing_signal_id,
            by: None,
            verified: None,
            verdict: None,
            at: None,
        }
    }
}

/// A person's yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// A signal named `approved`.
    Approve,
    /// A signal named `rejected`.
    Reject,
}

/// A person's yes or no at a waitpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decide {
    /// The waitpoint that gets a signal named `approved` or `rejected`.
    pub waitpoint_id: WaitpointId,
    /// What the person adds, up to 256 KiB; if the signal counts, the next task is handed it.
    #[serde(rename = "payload:bytes", default)]
    pub payload: Payload,
    /// Makes repeated decisions one.
    pub idempotency_key: Option<IdempotencyKey>,
}

/// Asks for what waits for a person. Everything given must hold; of a list, one of its values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListApprovals {
    /// Of this tenant; absent: of every tenant the caller may see.
    pub namespace: Option<Namespace>,
    /// Of one of these lanes; none: of every lane.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lane: Vec<LaneId>,
    /// For one of these handlers; none: for any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kind: Vec<ExecutionKind>,
    /// Where to go on, and how many at most.
    #[serde(rename = "..page")]
    pub page: PageRequest,
}

impl ListApprovals {
    /// Refuses longer lists than anybody would look through.
    pub fn check(&self) -> Result<(), Rejection> {
        check_values([self.lane.len(), self.kind.len()])
    }

    /// Whether an execution has everything that was given.
    pub fn matches(&self, execution: &Execution) -> bool {
        let definition = &execution.definition;
        is_one_of(&self.lane, &definition.lane) && is_one_of(&self.kind, &definition.kind)
    }
}

/// Something that waits for a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Approval {
    /// The execution that waits.
    pub execution_id: ExecutionId,
    /// The tenant it belongs to.
    pub namespace: Namespace,
    /// The queue it goes on in once it is decided.
    pub lane_id: LaneId,
    /// Which handler runs it.
    pub execution_kind: ExecutionKind,
    /// Who submitted it, as the submission said.
    pub creator: Option<Identity>,
    /// Why it waits, as its worker said.
    pub reason_code: ReasonCode,
    /// Its timeout passed and calls for a person.
    pub escalated: bool,
    /// Since when it waits.
    pub since: Timestamp,
    /// When waiting ends by itself; absent: never.
    pub timeout_at: Option<Timestamp>,
    /// Where it can be approved or rejected.
    pub waitpoints: Vec<WaitpointRef>,
    /// What it has used so far, by dimension; the first 16 dimensions it reported.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub usage: BTreeMap<Dimension, u64>,
    /// How much it has recorded of what it did; absent: nothing.
    pub steps: Option<StepTotals>,
    /// Index of the attempt that goes on once it is decided; the summary of that one is what is shown.
    pub expected_attempt: u32,
    /// What is shown, if it is at most 4 KiB as JSON: `approvals.<show_key>` of the summary, for a submitter and above.
    #[serde(rename = "show:bytes", skip_serializing_if = "Option::is_none")]
    pub show: Option<Payload>,
    /// The waitpoint under whose key something is shown; absent: nothing is.
    pub show_key: Option<WaitpointKey>,
    /// Bytes of what is shown, as JSON.
    pub show_bytes: Option<u64>,
    /// What is shown calls itself this, in its `title`: the first 256 bytes.
    pub title: Option<String>,
}

/// Resumes a suspended execution whatever its condition says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResumeExecution {
    /// For a person, up to 4 KiB; kept in the history.
    pub reason: Option<String>,
    /// Makes repeated requests one; the last 16 ids are remembered.
    pub request_id: Option<RequestId>,
}

/// What became of a resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResumeOutcome {
    /// It goes on now.
    Now,
    /// The same request resumed it before.
    Already,
}

wire::repeatable!(ResumeOutcome, "resumed");
