//! How a lane is read.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::HowMany;
use crate::capability::CapabilitySet;
use crate::command::submit::LaneState;
use crate::id::{BudgetId, QuotaPolicyId};
use crate::name::{LaneId, Namespace, WorkerInstanceId};
use crate::state::PublicState;
use crate::time::Timestamp;

/// A lane with how much of it is in which state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaneView {
    /// Lanes of the same name in two namespaces have nothing to do with each other.
    pub namespace: Namespace,
    /// As submissions and claims name it.
    pub lane_id: LaneId,
    /// Whether it accepts and hands out.
    pub state: LaneState,
    /// Executions by state.
    pub depth: BTreeMap<PublicState, u64>,
    /// When the oldest execution that waits for a worker was created.
    #[serde(rename = "oldest_eligible_at")]
    pub oldest_eligible: Option<Timestamp>,
    /// Executions this server saw end per second, over the last minute.
    pub throughput: f64,
}

/// A lane with the queues in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneLane {
    /// The lane; its fields stand beside the queues.
    #[serde(rename = "..lane")]
    pub lane: LaneView,
    /// What waits for a worker, by what it requires: the longest first, at most 100.
    pub queues: Vec<LaneQueue>,
    /// How many other queues there are.
    pub more_queues: usize,
    /// How many live workers take work of the lane; those that are drained do not count.
    pub workers: usize,
}

/// What waits in a lane for the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaneQueue {
    /// What a worker must offer.
    pub requires: CapabilitySet,
    /// The budgets that must be open.
    pub budgets: BTreeSet<BudgetId>,
    /// The quota policy that must have room.
    pub quota: Option<QuotaPolicyId>,
    /// How many wait in it.
    pub length: HowMany,
    /// When what is handed out next was created.
    pub best_at: Option<Timestamp>,
    /// The first five live workers of the lane, by name, that offer what is required and are not drained.
    pub fits: Vec<WorkerInstanceId>,
    /// How many of them there are.
    pub fitting: usize,
}
