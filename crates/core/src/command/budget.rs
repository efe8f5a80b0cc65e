//! Budgets: create, change, reset, delete, read, and spend.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::BudgetId;
use crate::name::{Dimension, IdempotencyKey, Namespace, RequestId};
use crate::record::{Breach, Excess, Limits, OnHardLimit};
use crate::time::{Duration, Timestamp};
use crate::view::HowMany;
use crate::wire;

/// Creates a budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CreateBudget {
    /// Its id; minted when absent.
    pub budget_id: Option<BudgetId>,
    /// The tenant; unless given that of the key, or else `default`.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// What it is for, in the user's words: up to 256 bytes.
    #[serde(default)]
    pub scope: String,
    /// Limits by dimension, up to 64 of them; others are counted without a limit.
    pub dimensions: BTreeMap<Dimension, Limits>,
    /// How often usage starts again from zero, at least 1 s; absent: never by itself.
    #[serde(rename = "reset_interval_ms")]
    pub reset_interval: Option<Duration>,
    /// What a hard breach does to executions that run; absent: `block`.
    #[serde(default)]
    pub on_hard_limit: OnHardLimit,
}

/// What became of a creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BudgetCreated {
    /// It is there now.
    Created,
    /// It was created before with the same definition.
    Exists,
}

/// A budget that is there now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CreatedBudget {
    /// As given, or minted: what policies and usage reports name it by.
    pub budget_id: BudgetId,
    /// New, or there before.
    #[serde(rename = "status")]
    pub created: BudgetCreated,
}

/// Charges usage without a lease.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChargeBudget {
    /// What was spent, by dimension: 1 to 64 of them, in the units of their limits.
    pub deltas: BTreeMap<Dimension, u64>,
    /// Makes repeated reports to this budget one for 24 h, whoever sends them.
    pub dedup_key: Option<IdempotencyKey>,
    /// Makes repeated requests one for 24 h; looked at only without a `dedup_key`.
    pub request_id: Option<RequestId>,
}

/// Changes limits: the dimensions named get these limits, the others keep theirs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UpdateLimits {
    /// New limits by dimension. Empty limits make a dimension unlimited.
    pub dimensions: BTreeMap<Dimension, Limits>,
}

/// What became of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Updated {
    /// It holds from now on.
    #[serde(rename = "updated")]
    Now,
    /// It was so already.
    Unchanged,
}

/// Starts usage again from zero. The rhythm of periodic resets stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResetBudget {
    /// Makes repeated requests one; the last 16 ids are remembered.
    pub request_id: Option<RequestId>,
}

/// What became of a reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetReset {
    /// Usage is zero now.
    Now,
    /// The same request reset it before.
    Already,
}

wire::repeatable!(BudgetReset, "reset");

/// What became of a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deleted {
    /// It limits nothing from now on.
    Now,
    /// It was deleted before.
    Already,
}

wire::repeatable!(Deleted, "deleted");

/// A budget's answer to a usage report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "ReportedForm", into = "ReportedForm")]
pub enum Reported {
    /// Recorded; no limit passed.
    Ok,
    /// Recorded; at least one dimension is above its soft limit, none above its hard limit.
    SoftBreach {
        /// The first of them by name; its fields stand beside the status.
        first: Excess,
        /// Every dimension of this report that is above its soft limit.
        all: Vec<Excess>,
    },
    /// Recorded, because it is spent; at least one dimension is above its hard limit.
    HardBreach {
        /// The first of them by name; its fields stand beside the status.
        first: Excess,
        /// Every dimension of this report that is above its hard limit.
        all: Vec<Excess>,
    },
    /// Recorded before under the same identity.
    AlreadyApplied,
    /// The budget was deleted: recorded nowhere, limited by nothing.
    Gone,
}

/// How it travels: the first excess stands beside the status.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ReportedForm {
    status: ReportedStatus,
    #[serde(flatten)]
    first: Option<Excess>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    all: Vec<Excess>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum ReportedStatus {
    Ok,
    SoftBreach,
    HardBreach,
    AlreadyApplied,
    Gone,
}

impl From<Reported> for ReportedForm {
    fn from(reported: Reported) -> Self {
        let (status, breach) = match reported {
            Reported::Ok => (ReportedStatus::Ok, None),
            Reported::SoftBreach { first, all } => (ReportedStatus::SoftBreach, Some((first, all))),
            Reported::HardBreach { first, all } => (ReportedStatus::HardBreach, Some((first, all))),
            Reported::AlreadyApplied => (ReportedStatus::AlreadyApplied, None),
            Reported::Gone => (ReportedStatus::Gone, None),
        };
        let (first, all) = breach.unzip();
        Self {
            status,
            first,
            all: all.unwrap_or_default(),
        }
    }
}

impl TryFrom<ReportedForm> for Reported {
    type Error = &'static str;

    fn try_from(form: ReportedForm) -> Result<Self, &'static str> {
        let ReportedForm { status, first, all } = form;
        let first = first.ok_or("a breach says which dimension passed which limit");
        Ok(match status {
            ReportedStatus::Ok => Reported::Ok,
            ReportedStatus::SoftBreach => Reported::SoftBreach { first: first?, all },
            ReportedStatus::HardBreach => Reported::HardBreach { first: first?, all },
            ReportedStatus::AlreadyApplied => Reported::AlreadyApplied,
            ReportedStatus::Gone => Reported::Gone,
        })
    }
}

/// A budget as it is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BudgetView {
    /// What policies and usage reports name it by.
    pub budget_id: BudgetId,
    /// The tenant whose executions it limits.
    pub namespace: Namespace,
    /// What it is for, in the words of whoever created it.
    pub scope: String,
    /// Usage and limits of every dimension that has either.
    pub dimensions: BTreeMap<Dimension, DimensionView>,
    /// How often usage starts again from zero; absent: never by itself.
    #[serde(rename = "reset_interval_ms")]
    pub reset_interval: Option<Duration>,
    /// What a hard breach does to executions that run.
    pub on_hard_limit: OnHardLimit,
    /// When it was created.
    pub created_at: Timestamp,
    /// The next periodic reset; absent when there is none.
    pub next_reset_at: Option<Timestamp>,
    /// Moves whenever blocked work may have become admissible.
    pub generation: u64,
    /// Reports that passed a soft limit only.
    pub soft_breaches: u64,
    /// Reports that passed a hard limit.
    pub hard_breaches: u64,
    /// The last report that passed a limit, soft or hard.
    pub last_breach: Option<Breach>,
    /// Why running executions are being stopped, while they are.
    pub stop_pending: Option<String>,
    /// Since when it is known to admit nothing; absent while it does, and for a moment after it closed.
    pub closed_since: Option<Timestamp>,
    /// How many executions were refused because of it, and wait.
    #[serde(default)]
    pub waiting: HowMany,
    /// Whether it admits new work, and if not, which limit is in the way.
    pub state: BudgetState,
}

/// Usage and limits of one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DimensionView {
    /// What was spent since the last reset.
    pub usage: u64,
    /// What usage is compared with; absent limits are none.
    #[serde(rename = "..limits")]
    pub limits: Limits,
}

/// Whether a budget admits work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BudgetState {
    /// Every dimension is below its hard limit: work is admitted.
    Open,
    /// This hard limit is reached: nothing is admitted before a reset or a higher limit.
    Closed(Excess),
    /// It was deleted and limits nothing.
    Deleted,
}
