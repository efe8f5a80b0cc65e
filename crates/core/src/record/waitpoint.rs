//! Waitpoints and the signals delivered to them.

use serde::{Deserialize, Serialize};

use super::{Carried, WaitpointRef, is_default};
use crate::id::{ExecutionId, SignalId, SuspensionId, WaitpointId};
use crate::name::{IdempotencyKey, Identity, SignalName, WaitpointKey};
use crate::time::Timestamp;

/// A place a signal can be delivered to. Whether it is pending, active or closed is derived from it and its execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waitpoint {
    /// Its name.
    pub id: WaitpointId,
    /// Whose it is.
    pub execution_id: ExecutionId,
    /// The worker's own name for it.
    pub key: WaitpointKey,
    /// When it was made; part of what its token signs.
    pub created_at: Timestamp,
    /// When it was last written.
    pub updated_at: Timestamp,
    /// What became of it.
    pub usage: WaitpointUse,
    /// How many signals arrived while it was pending. They know it, so that one more costs no more than the first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub buffered: u64,
    /// What a later format holds besides.
    #[serde(skip)]
    pub carried: Carried,
}

/// What became of a waitpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitpointUse {
    /// Handed out before any suspension; closes at `expires_at` if none uses it.
    Pending {
        /// When it closes.
        expires_at: Timestamp,
    },
    /// A suspension waits at it; closed once that suspension is no longer open.
    Suspension(SuspensionId),
    /// Its time passed before any suspension used it.
    NeverCommitted,
    /// A suspend found its condition met by early signals and closed it.
    Consumed,
}

/// An open pending waitpoint as its execution knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingWaitpoint {
    /// The waitpoint.
    #[serde(flatten)]
    pub waitpoint: WaitpointRef,
    /// When it closes if no suspension uses it.
    pub expires_at: Timestamp,
}

impl Waitpoint {
    /// What its execution keeps of it.
    pub fn reference(&self) -> WaitpointRef {
        WaitpointRef {
            id: self.id,
            key: self.key.clone(),
            created_at: self.created_at,
        }
    }
}

/// An event delivered to a waitpoint. Its payload is a blob beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Signal {
    /// Its name.
    pub id: SignalId,
    /// To which execution.
    pub execution_id: ExecutionId,
    /// To which waitpoint; absent for the engine's own `timeout` signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waitpoint_id: Option<WaitpointId>,
    /// What it is called.
    pub name: SignalName,
    /// The sender's class for it.
    pub category: String,
    /// What kind of thing sent it.
    pub source_type: String,
    /// Who sent it: by the credential it came with, or else as the sender claims.
    pub source_identity: Identity,
    /// Whether a credential vouched for the identity; otherwise it is only claimed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub source_verified: bool,
    /// The sender's id for tying things together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The key its repetition is recognised by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<IdempotencyKey>,
    /// When it was accepted.
    pub accepted_at: Timestamp,
    /// What it did.
    pub effect: SignalEffect,
    /// How many bytes came with it.
    pub payload_bytes: u64,
    /// How many had arrived at its waitpoint before it, if that was pending then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffered_after: Option<u64>,
    /// What a later format holds besides.
    #[serde(skip)]
    pub carried: Carried,
}

impl Signal {
    /// The waitpoint it arrived at, if that was pending then.
    pub fn waiting_at(&self) -> Option<WaitpointId> {
        self.waitpoint_id.filter(|_| self.buffered_after.is_some())
    }
}

/// What an accepted signal did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SignalEffect {
    /// The condition holds now; the execution goes on.
    ResumeConditionSatisfied,
    /// The condition asks for such signals, but still needs more.
    AppendedToWaitpoint,
    /// It waits for a suspend that uses its waitpoint.
    BufferedForPendingWaitpoint,
    /// The condition does not ask for it.
    IgnoredNotInCondition,
}

/// Remembers which signal an idempotency key stands for, for as long as the dedup window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignalKeyRecord {
    /// The execution the key belongs to.
    pub execution_id: ExecutionId,
    /// The key.
    pub key: IdempotencyKey,
    /// The signal first accepted under it.
    pub signal_id: SignalId,
    /// What a later format holds besides.
    #[serde(skip)]
    pub carried: Carried,
}
