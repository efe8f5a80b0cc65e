//! Lanes: set_lane_state.

use serde::{Deserialize, Serialize};

use crate::command::submit::LaneState;
use crate::name::{LaneId, Namespace};

/// Says what a lane accepts and hands out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetLaneState {
    /// The tenant; unless given that of the key, or else `default`.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// Which lane; created if nobody has used it.
    pub lane_id: LaneId,
    /// What it accepts and hands out from now on; running work goes on.
    pub state: LaneState,
}
