//! Reasons that are computed on reads and never stored: they show only when the stored ones leave the execution eligible.

use crate::command::submit::LaneState;
use crate::record::{Execution, GateState, Worker, has_capable};
use crate::state::{BlockingReason, EligibilityState, StateVector, state_vector};
use crate::time::Timestamp;

/// What a read knows about the surroundings of an execution.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The store's time.
    pub now: Timestamp,
    /// The state of its lane.
    pub lane: LaneState,
    /// The gate of its flow.
    pub gate: Option<GateState>,
    /// Workers known to the engine.
    pub workers: &'a [Worker],
    /// The quota of its signature has no room.
    pub quota_full: bool,
}

/// The state as a reader sees it. `public_state` stays what the facts say.
pub fn observed_state(execution: &Execution, surroundings: &Surroundings<'_>) -> StateVector {
    let stored = state_vector(execution);
    if stored.eligibility_state != EligibilityState::EligibleNow {
        return stored;
    }
    match overlay(execution, surroundings) {
        None => stored,
        Some((eligibility_state, blocking_reason)) => StateVector {
            eligibility_state,
            blocking_reason,
            ..stored
        },
    }
}

fn overlay(execution: &Execution, surroundings: &Surroundings<'_>) -> Option<(EligibilityState, BlockingReason)> {
    if surroundings.gate == Some(GateState::Cancelled) {
        return Some((EligibilityState::BlockedByOperator, BlockingReason::PausedByFlowCancel));
    }
    if !surroundings.lane.hands_out() {
        return Some((EligibilityState::BlockedByLaneState, BlockingReason::PausedByPolicy));
    }
    if !has_capable_worker(execution, surroundings) {
        return Some((
            EligibilityState::BlockedByRoute,
            BlockingReason::WaitingForCapableWorker,
        ));
    }
    let full = surroundings.quota_full && execution.definition.policy.quota_policy_id.is_some();
    full.then_some((EligibilityState::BlockedByQuota, BlockingReason::WaitingForQuota))
}

fn has_capable_worker(execution: &Execution, surroundings: &Surroundings<'_>) -> bool {
    let definition = &execution.definition;
    let required = &definition.policy.routing_requirements.required_capabilities;
    let lane = (&definition.namespace, &definition.lane);
    has_capable(surroundings.workers, lane, required, surroundings.now)
}
