//! Lanes: set_lane_state.

use crate::command::submit::LaneState;
use crate::name::{LaneId, Namespace};

/// Says what a lane accepts and hands out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetLaneState {
    /// The tenant.
    pub namespace: Namespace,
    /// Which lane; created if nobody has used it.
    pub lane_id: LaneId,
    /// From now on.
    pub state: LaneState,
}
