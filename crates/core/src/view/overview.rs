//! A whole namespace at a glance.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Columns, HowMany, LaneView};
use crate::id::BudgetId;
use crate::name::{LaneId, Namespace, WorkerInstanceId};
use crate::state::PublicState;
use crate::time::{Duration, Timestamp};

/// Asks how a namespace fares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadOverview {
    /// The tenant; unless given that of the key, or else `default`.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// What was seen already, its `as_of`: with `wait_ms`, a call waits for something newer.
    pub after: Option<Timestamp>,
    /// How long to wait for something newer, at most 30 s; absent: not at all.
    #[serde(rename = "wait_ms", default)]
    pub wait: Duration,
}

/// How a namespace fares. Everything that is counted is exact unless it says otherwise; what happened lately is what this server
/// saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Overview {
    /// The tenant.
    pub namespace: Namespace,
    /// When this was so; another one has another time.
    pub as_of: Timestamp,
    /// Executions by state; states nobody is in are left out.
    pub states: BTreeMap<PublicState, u64>,
    /// Executions under a lease.
    pub running: u64,
    /// How many the live workers run at once at most, of those that say so; absent: none does.
    pub slots: Option<u64>,
    /// What happens, per second, over the last minute.
    pub per_second: Rates,
    /// At most 200 lanes: those with problems first, then those with most to do.
    pub lanes: Vec<LaneOverview>,
    /// The others together; absent: there are none.
    pub more_lanes: Option<MoreLanes>,
    /// What holds work back, most of it first.
    pub causes: Vec<HeldBack>,
    /// What waits for a person.
    pub approvals: WaitingForPeople,
    /// Budgets that admit nothing while work waits for them.
    pub closed_budgets: Vec<ClosedBudget>,
    /// Worker processes.
    pub workers: WorkersSeen,
    /// What somebody should do something about, worst first, at most six.
    pub attention: Vec<Attention>,
    /// The last whole minute of everything.
    pub minute: Minute,
}

/// What happens, per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rates {
    /// New executions.
    pub submitted: f64,
    /// Executions that ended well.
    pub completed: f64,
    /// Executions that failed or expired.
    pub failed: f64,
}

/// A lane at a glance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaneOverview {
    /// The lane.
    #[serde(rename = "..lane")]
    pub lane: LaneView,
    /// Executions that failed or expired per second, over the last minute.
    pub failed_per_s: f64,
    /// What is wrong with it.
    pub problems: Vec<LaneProblem>,
}

/// What can be wrong with a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LaneProblem {
    /// Something waits and no live worker takes it.
    NoWorker,
    /// Something waits and the lane is paused.
    Paused,
    /// Something waits and the lane is disabled.
    Disabled,
    /// The oldest that waits for a worker has become older for ten minutes.
    Growing,
    /// At least 5 % of what ends fails, three times as much as in the hour before.
    Failing,
}

/// Lanes that are not shown one by one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MoreLanes {
    /// How many.
    pub lanes: u64,
    /// Their executions by state.
    pub depth: BTreeMap<PublicState, u64>,
    /// Executions that end per second.
    pub throughput: f64,
    /// Executions that fail or expire per second.
    pub failed_per_s: f64,
}

/// Work that is held back by one thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeldBack {
    /// By what.
    pub cause: HeldBackKind,
    /// The id of the budget or quota policy.
    pub id: Option<String>,
    /// What the budget, quota policy or lane is called.
    pub name: Option<String>,
    /// How much.
    #[serde(rename = "..count")]
    pub count: HowMany,
    /// When it lets work through again by itself.
    pub opens_at: Option<Timestamp>,
}

/// What can hold work back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HeldBackKind {
    /// A budget that is spent.
    Budget,
    /// A quota policy.
    Quota,
    /// Upstreams that have not ended.
    Dependencies,
    /// A moment that has not come.
    Delay,
    /// No live worker offers what it requires.
    Capabilities,
    /// A lane that hands nothing out.
    Lane,
    /// An operator.
    Hold,
}

/// What waits for a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitingForPeople {
    /// How many.
    #[serde(rename = "..count")]
    pub count: HowMany,
    /// Since when the one that waits longest does.
    pub oldest_at: Option<Timestamp>,
    /// How many of them nobody decided in time.
    pub escalated: u64,
}

/// A budget that admits nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClosedBudget {
    /// The budget.
    pub budget_id: BudgetId,
    /// What it is for.
    pub name: String,
    /// What waits for it.
    pub waiting: HowMany,
    /// Since when it is known to admit nothing.
    pub since: Option<Timestamp>,
    /// Its next reset; absent: somebody has to do something.
    pub opens_at: Option<Timestamp>,
}

/// Worker processes of a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkersSeen {
    /// How many are there.
    pub live: u64,
    /// Those that were not heard of in time and had work.
    pub lost: Vec<WorkerInstanceId>,
}

/// Something that somebody should do something about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attention {
    /// What it is.
    pub code: AttentionCode,
    /// What it is about: a lane, the name of a budget, a worker process. Absent: of everything.
    pub subject: Option<String>,
    /// The id of the budget.
    pub id: Option<String>,
    /// How much work it concerns.
    #[serde(rename = "..count")]
    pub count: HowMany,
    /// Since when, where that is known.
    pub since: Option<Timestamp>,
}

/// What somebody should do something about; the worst comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AttentionCode {
    /// A spent budget, and work waits for it.
    BudgetClosed,
    /// Work that no live worker takes.
    NoWorker,
    /// Nobody decided in time.
    ApprovalEscalated,
    /// Somebody has waited for a decision for more than an hour.
    ApprovalOld,
    /// A lane is paused, or disabled, and work waits in it.
    LanePaused,
    /// The oldest work of a lane has become older for ten minutes.
    LaneGrowing,
    /// More fails in a lane than usual.
    LaneFailing,
    /// A worker process is gone, and had work.
    WorkerLost,
}

/// A minute of everything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Minute {
    /// When it began.
    pub at: Timestamp,
    /// One number in each column.
    #[serde(rename = "..columns")]
    pub columns: Columns,
}

impl AttentionCode {
    /// What a problem of a lane is for a person.
    pub const fn of_lane(problem: LaneProblem) -> Self {
        match problem {
            LaneProblem::NoWorker => AttentionCode::NoWorker,
            LaneProblem::Paused | LaneProblem::Disabled => AttentionCode::LanePaused,
            LaneProblem::Growing => AttentionCode::LaneGrowing,
            LaneProblem::Failing => AttentionCode::LaneFailing,
        }
    }
}

impl LaneOverview {
    /// The lane's name.
    pub const fn lane_id(&self) -> &LaneId {
        &self.lane.lane_id
    }
}
