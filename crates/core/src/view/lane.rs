//! How a lane is read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::command::submit::LaneState;
use crate::name::{LaneId, Namespace};
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
