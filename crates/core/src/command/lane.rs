//! Lanes: get_lane, set_lane_state; list_namespaces.

use serde::{Deserialize, Serialize};

use crate::command::submit::LaneState;
use crate::name::{LaneId, Namespace};

/// Asks which namespaces there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListNamespaces {}

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

/// Asks for a lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GetLane {
    /// The tenant; unless given that of the key, or else `default`.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// Which lane; one nobody has used is empty.
    pub lane_id: LaneId,
}
