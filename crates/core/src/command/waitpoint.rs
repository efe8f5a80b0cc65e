//! Waitpoints: create_pending_waitpoint and list_pending_waitpoints.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::id::{SignalId, SuspensionId, WaitpointId};
use crate::name::{Kid, RequestId, SignalName, WaitpointKey};
use crate::record::Fence;
use crate::time::{Duration, Timestamp};
use crate::token::{CallbackPath, WaitpointToken};
use crate::wire;

/// Hands out a waitpoint before suspending, so that a callback can be given away.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CreatePendingWaitpoint {
    /// Proof of the lease, as the task carried it.
    #[serde(rename = "..fence", deserialize_with = "wire::fence")]
    pub fence: Option<Fence>,
    /// The worker's own name for it, unique among its open pending waitpoints.
    pub waitpoint_key: WaitpointKey,
    /// How long it waits for a suspend that uses it: 1 ms to 30 days.
    #[serde(rename = "expires_in_ms")]
    pub expires_in: Duration,
    /// Makes repeated requests one; the last 16 ids are remembered.
    pub request_id: Option<RequestId>,
    /// Its id; when absent derived from the request, or minted.
    pub waitpoint_id: Option<WaitpointId>,
}

impl CreatePendingWaitpoint {
    /// The id of the waitpoint: as given, or derived from the request, so that a repetition has the same. `None`: any
    /// fresh one. The lease id is a secret, so nobody else can know it in advance.
    pub fn waitpoint_id(&self) -> Option<WaitpointId> {
        self.waitpoint_id.or_else(|| {
            let lease = self.fence?.lease_id.expose().to_string();
            let told = [&lease, self.request_id.as_ref()?.as_str(), self.waitpoint_key.as_str()];
            Some(WaitpointId::from_uuid(Digest::of("pending waitpoint", told).uuid()))
        })
    }
}

/// A waitpoint with the token that authenticates signals to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IssuedWaitpoint {
    /// What signals to it name it by.
    pub waitpoint_id: WaitpointId,
    /// The worker's own name for it, which resume conditions use.
    pub waitpoint_key: WaitpointKey,
    /// When it closes if no suspension uses it; absent for one that is used.
    pub expires_at: Option<Timestamp>,
    /// What a signal to it must show. A secret: give it only to who may send signals.
    #[serde(rename = "waitpoint_token")]
    pub token: WaitpointToken,
    /// Where whoever can only POST sends a signal named `callback`. It holds the token, so it is as secret.
    pub callback_path: CallbackPath,
}

/// What became of a suspend, with the tokens of its waitpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum SuspendedTask {
    /// The lease is gone; signals to these waitpoints are awaited.
    Suspended {
        /// As given, or derived from the request.
        suspension_id: SuspensionId,
        /// Its waitpoints in the order they were asked for.
        waitpoints: Vec<IssuedWaitpoint>,
    },
    /// Early signals meet the condition: the worker keeps its lease and goes on.
    AlreadySatisfied {
        /// The signals that counted, in order.
        signals: Vec<SignalId>,
        /// The place of its step, which read_steps answers with all that came with them; absent: it was to be none.
        step_seq: Option<u64>,
    },
    /// The flow is cancelled, so the execution was cancelled instead.
    Cancelled,
}

/// Asks for the token of a waitpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadWaitpointToken {
    /// A waitpoint of this execution.
    pub waitpoint_id: WaitpointId,
}

/// The token of a waitpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadToken {
    /// What a signal to it must show. A secret: give it only to who may send signals.
    pub waitpoint_token: WaitpointToken,
}

/// Where a waitpoint stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WaitpointState {
    /// Handed out before any suspension: signals are kept for the suspend that uses it.
    Pending,
    /// An open suspension waits at it.
    Active,
    /// It takes no more signals.
    Closed(WaitpointClosed),
}

/// Why a waitpoint takes no more signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WaitpointClosed {
    /// It expired before any suspension used it.
    NeverCommitted,
    /// A suspend found its condition met by early signals.
    Consumed,
    /// Its suspension is over.
    SuspensionEnded,
    /// Its execution ended before any suspension used it.
    ExecutionEnded,
}

impl WaitpointClosed {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            WaitpointClosed::NeverCommitted => "never_committed",
            WaitpointClosed::Consumed => "consumed",
            WaitpointClosed::SuspensionEnded => "suspension_ended",
            WaitpointClosed::ExecutionEnded => "execution_ended",
        }
    }
}

/// A waitpoint that takes signals, as a listing shows it: never with its token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenWaitpoint {
    /// What signals to it name it by.
    pub waitpoint_id: WaitpointId,
    /// The worker's own name for it, which resume conditions use.
    pub waitpoint_key: WaitpointKey,
    /// `pending` before a suspension uses it, `active` after; closed ones are not listed.
    pub state: WaitpointState,
    /// The names its suspension asks for here.
    pub required_names: RequiredNames,
    /// When it was made; part of what its token vouches for.
    pub created_at: Timestamp,
    /// When it closes unless something happens before: its own expiry, or the timeout of its suspension.
    pub closes_at: Option<Timestamp>,
    /// The key a token read now would be signed with.
    pub kid: Kid,
    /// Names its tokens in logs; no part of the MAC.
    pub fingerprint: String,
}

/// Which signals a resume condition asks for at one waitpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RequiredNames {
    /// None: no condition asks for signals here, or none does yet.
    Nothing,
    /// Only these names.
    Names(BTreeSet<SignalName>),
    /// Any name.
    Any,
}
