//! Effects on other partitions, kept on the record that caused them until they are known to have arrived.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::{BudgetId, EffectId, ExecutionId, GrantId, QuotaPolicyId};
use crate::name::{Dimension, IdempotencyKey, RequestId};

/// One effect in the outbox. Its receiver recognises a repetition by `id`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// Its name.
    pub id: EffectId,
    /// What it does.
    pub kind: EffectKind,
}

/// What an effect does in another partition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectKind {
    /// Frees the quota slot of a lease or grant that ended.
    ReleaseSlot {
        /// Of which policy.
        quota_policy_id: QuotaPolicyId,
        /// Which slot.
        grant_id: GrantId,
    },
    /// Adds usage to a budget.
    ReportUsage {
        /// To which budget.
        budget_id: BudgetId,
        /// The attempt it stands on.
        attempt_index: u32,
        /// How much, by dimension.
        deltas: BTreeMap<Dimension, u64>,
        /// What a repetition comes under, in an effect of its own.
        identity: UsageIdentity,
    },
}

/// What tells a repeated usage report. Two kinds never meet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageIdentity {
    /// The caller's own key.
    Key(IdempotencyKey),
    /// The request that carried it, when whoever charges without a lease gave no key.
    Request(RequestId),
    /// The request that carried it, when the lease holder gave no key: another execution's is another one.
    Call(ExecutionId, RequestId),
    /// The effect that carried it, when there is nothing else.
    Effect(EffectId),
}

impl fmt::Display for UsageIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UsageIdentity::Key(key) => write!(f, "key:{key}"),
            UsageIdentity::Request(id) => write!(f, "request:{id}"),
            UsageIdentity::Call(execution_id, id) => write!(f, "call:{execution_id}:{id}"),
            UsageIdentity::Effect(id) => write!(f, "effect:{id}"),
        }
    }
}
