//! Lanes: created on first use, paused, drained and disabled by an operator.

use super::context::Context;
use crate::command::operator::Changed;
use crate::command::submit::LaneState;
use crate::error::{Code, Rejection};
use crate::limits::LANES_MAX;
use crate::name::{LaneId, Namespace};
use crate::record::Lane;

/// A lane nobody has used before, in a namespace that has `lanes` others.
pub fn create(namespace: &Namespace, lane: &LaneId, lanes: usize, context: &Context) -> Result<Lane, Rejection> {
    if lanes >= LANES_MAX {
        return Err(Code::InvalidInput.because(format!("namespace {namespace} has {lanes} lanes and takes no more")));
    }
    Ok(Lane {
        namespace: namespace.clone(),
        lane: lane.clone(),
        state: LaneState::Active,
        created_at: context.now,
        updated_at: context.now,
        carried: Default::default(),
    })
}

/// Changes what a lane accepts and hands out. Work that runs is not touched.
pub fn set_state(lane: &Lane, state: LaneState, context: &Context) -> (Lane, Changed) {
    if lane.state == state {
        return (lane.clone(), Changed::Already);
    }
    let changed = Lane {
        state,
        updated_at: context.now.max(lane.updated_at),
        ..lane.clone()
    };
    (changed, Changed::Now)
}
