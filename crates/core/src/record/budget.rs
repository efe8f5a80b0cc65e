//! Budgets: what may be spent, what was spent, and what happened when it was too much.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{BlockedIn, Carried, RequestLog};
use crate::digest::Digest;
use crate::id::BudgetId;
use crate::name::{Dimension, Namespace};
use crate::time::{Duration, Timestamp};

/// Most dimensions of one budget, and of one usage report.
pub const DIMENSIONS_MAX: usize = 64;
/// Highest usage, limit or delta: what every store counts exactly. Usage stays there once it got there.
pub const AMOUNT_MAX: u64 = (1 << 53) - 1;

/// Counters with limits, shared by the executions attached to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Its name.
    pub id: BudgetId,
    /// The tenant.
    pub namespace: Namespace,
    /// What it is for, in the user's words.
    pub scope: String,
    /// Limits by dimension.
    pub dimensions: BTreeMap<Dimension, Limits>,
    /// What was spent since the last reset, in dimensions with and without limits; absent is 0.
    pub usage: BTreeMap<Dimension, u64>,
    /// How often usage starts again from zero.
    #[serde(rename = "reset_interval_ms")]
    pub reset_interval: Option<Duration>,
    /// What a hard breach does to executions that run.
    pub on_hard_limit: OnHardLimit,
    /// When it was created.
    pub created_at: Timestamp,
    /// Digest of what it was created as, so that a repeated creation is recognised whatever its limits are now.
    pub definition_digest: Digest,
    /// The next periodic reset.
    pub next_reset_at: Option<Timestamp>,
    /// Moves whenever blocked work may have become admissible, and with every release of it.
    pub generation: u64,
    /// When the generation last moved.
    pub generation_at: Timestamp,
    /// Reports that left a dimension above its soft limit, and none above its hard limit.
    pub soft_breaches: u64,
    /// Reports that left a dimension above its hard limit.
    pub hard_breaches: u64,
    /// The last of either.
    pub last_breach: Option<Breach>,
    /// Since when it is known to admit nothing; absent while it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<Timestamp>,
    /// Running executions are being stopped.
    pub stop: Option<StopOrder>,
    /// An order to stop has ended, and those it was told to may go on.
    pub withdrawal: Option<Withdrawal>,
    /// Deleted: it limits nothing any more. The record stays, so that the id is not used again.
    pub deleted_at: Option<Timestamp>,
    /// Where work waits for it.
    pub blocked_in: BlockedIn,
    /// The last requests that have no identity of their own.
    pub requests: RequestLog,
    /// What a later format holds besides.
    #[serde(skip)]
    pub carried: Carried,
}

/// The limits of one dimension; absent is no limit, 0 is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Limits {
    /// Usage above it is reported, nothing else; at most the hard limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub soft: Option<u64>,
    /// Usage at it closes admission; usage above it is a breach. At most 2^53 - 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hard: Option<u64>,
}

/// What a hard breach does to executions that run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OnHardLimit {
    /// They go on; nothing new is admitted.
    #[default]
    Block,
    /// They are asked to stop, and cancelled 30 s later if they do not.
    CancelActive,
}

/// One dimension at or above one of its limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Excess {
    /// The dimension, as the budget's limits name it.
    pub dimension: Dimension,
    /// What is spent of it since the last reset.
    pub current: u64,
    /// The limit it reached or passed.
    pub limit: u64,
}

/// A report that passed a limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Breach {
    /// Which dimension passed which limit, and what was spent by then.
    #[serde(flatten)]
    pub excess: Excess,
    /// Whether the limit was soft or hard.
    pub kind: BreachKind,
    /// When the report arrived, on the store's clock.
    pub at: Timestamp,
}

/// Which kind of limit was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BreachKind {
    /// A soft limit: nothing is refused for it.
    Soft,
    /// A hard limit: nothing is admitted while it is passed.
    Hard,
}

/// A hard breach stops what runs under the budget: at once, and again until no lease admitted before can still appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopOrder {
    /// When the budget was breached.
    pub since: Timestamp,
    /// The budget's generation then, which tells it from the orders before and after it.
    pub generation: u64,
    /// When to look for running executions next; absent when all were found.
    pub next_sweep_at: Option<Timestamp>,
}

/// The budget is no longer breached: requests to stop are taken back, unless they are of a later breach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withdrawal {
    /// The generation of the last order that has ended.
    pub generation: u64,
    /// Since when.
    pub since: Timestamp,
}

impl Budget {
    /// What is spent of a dimension.
    pub fn spent(&self, dimension: &Dimension) -> u64 {
        self.usage.get(dimension).copied().unwrap_or(0)
    }

    /// The first dimension whose hard limit is reached: while there is one, nothing is admitted.
    pub fn closed_by(&self) -> Option<Excess> {
        self.first_excess(|current, hard| current >= hard)
    }

    /// The first dimension of which more is spent than its hard limit allows.
    pub fn breached_by(&self) -> Option<Excess> {
        self.first_excess(|current, hard| current > hard)
    }

    fn first_excess(&self, exceeds: fn(u64, u64) -> bool) -> Option<Excess> {
        let limits = self
            .dimensions
            .iter()
            .filter_map(|(dimension, limits)| Some((dimension, limits.hard?)));
        let mut excesses = limits.map(|(dimension, limit)| Excess {
            dimension: dimension.clone(),
            current: self.spent(dimension),
            limit,
        });
        excesses.find(|excess| exceeds(excess.current, excess.limit))
    }
}
