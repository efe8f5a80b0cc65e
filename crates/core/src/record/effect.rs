//! Effects on other partitions, kept on the record that caused them until they are known to have arrived.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::{BudgetId, EffectId, GrantId, QuotaPolicyId};
use crate::name::{Dimension, IdempotencyKey};

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
        /// How much, by dimension.
        deltas: BTreeMap<Dimension, u64>,
        /// The caller's own key, when it gave one; otherwise the effect's id tells repetitions.
        dedup_key: Option<IdempotencyKey>,
    },
}
