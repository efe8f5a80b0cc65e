//! Signals and what else ends a suspension: deliver_signal, approve, reject, resume_execution.

use serde::{Deserialize, Serialize};

use crate::command::page::PageRequest;
use crate::id::{ExecutionId, SignalId, WaitpointId};
use crate::name::{ExecutionKind, IdempotencyKey, Identity, LaneId, Namespace, RequestId, SignalName};
use crate::payload::Payload;
use crate::record::{ReasonCode, SignalEffect, WaitpointRef};
use crate::time::Timestamp;
use crate::token::WaitpointToken;
use crate::wire;

/// Delivers an event to a waitpoint. Its token was checked, or the caller is privileged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeliverSignal {
    /// To which waitpoint.
    pub waitpoint_id: WaitpointId,
    /// The sender's id for it; minted when absent.
    pub signal_id: Option<SignalId>,
    /// What it is called.
    pub signal_name: SignalName,
    /// The sender's class for it.
    #[serde(default = "event")]
    pub category: String,
    /// What kind of thing sends it.
    #[serde(default = "external")]
    pub source_type: String,
    /// Who the sender says it is. A caller with a credential is whoever that says instead.
    #[serde(default = "Identity::anonymous")]
    pub source_identity: Identity,
    /// What comes with it.
    #[serde(rename = "payload:bytes", default)]
    pub payload: Payload,
    /// Makes repeated deliveries one.
    pub idempotency_key: Option<IdempotencyKey>,
    /// The sender's id for tying things together.
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
pub struct SendSignal {
    /// Proof that the sender was given the waitpoint.
    pub waitpoint_token: WaitpointToken,
    /// The signal.
    #[serde(rename = "..signal")]
    pub signal: DeliverSignal,
}

/// What became of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Delivered {
    /// It is kept, and this is what it did.
    Accepted {
        /// Its id.
        signal_id: SignalId,
        /// What it did.
        effect: SignalEffect,
    },
    /// It was delivered before.
    Duplicate {
        /// The first one.
        existing_signal_id: SignalId,
    },
}

/// A person's yes or no at a waitpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decide {
    /// At which waitpoint.
    pub waitpoint_id: WaitpointId,
    /// What the person adds.
    #[serde(rename = "payload:bytes", default)]
    pub payload: Payload,
    /// Makes repeated decisions one.
    pub idempotency_key: Option<IdempotencyKey>,
}

/// Asks for what waits for a person.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ListApprovals {
    /// Of this tenant; absent: of every tenant the caller may see.
    pub namespace: Option<Namespace>,
    /// Which page.
    #[serde(rename = "..page")]
    pub page: PageRequest,
}

/// Something that waits for a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// What waits.
    pub execution_id: ExecutionId,
    /// The tenant.
    pub namespace: Namespace,
    /// Its queue.
    pub lane_id: LaneId,
    /// What kind of work it is.
    pub execution_kind: ExecutionKind,
    /// Why it waits.
    pub reason_code: ReasonCode,
    /// Its timeout passed and calls for a person.
    pub escalated: bool,
    /// Since when it waits.
    pub since: Timestamp,
    /// When waiting ends by itself.
    pub timeout_at: Option<Timestamp>,
    /// Where it can be approved or rejected.
    pub waitpoints: Vec<WaitpointRef>,
}

/// Resumes a suspended execution whatever its condition says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResumeExecution {
    /// Why.
    pub reason: Option<String>,
    /// Makes repeated requests one.
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
