//! What a caller sees of an execution.

use std::sync::Arc;

use ff_core::command::submit::LaneState;
use ff_core::record::{Execution, Suspension};
use ff_core::state::{BlockingReason, blocking_detail, state_vector};
use ff_core::view::{ExecutionView, GrantView, StateView, StepTotals, SuspensionView};

use super::environment::Environment;

/// Everything about an execution but its bytes.
pub(super) fn execution_view(execution: &Execution, environment: &Environment) -> ExecutionView {
    let definition = &execution.definition;
    let attempt = execution.attempt.as_ref();
    let lease = execution.lease();
    let outcome = execution.outcome();
    ExecutionView {
        execution_id: execution.id,
        namespace: definition.namespace.clone(),
        lane_id: definition.lane.clone(),
        execution_kind: definition.kind.clone(),
        priority: execution.priority,
        creator_identity: definition.creator.clone(),
        state: state_view(execution, environment),
        created_at: definition.created_at,
        started_at: attempt.map(|attempt| attempt.started_at),
        completed_at: outcome.map(|outcome| outcome.at),
        delay_until: execution
            .runnable()
            .and_then(|runnable| Some(runnable.delay.as_ref()?.until)),
        deadline_at: execution.deadline_at,
        attempt_index: attempt.map(|attempt| attempt.index),
        // Attempts are counted from 0 and none is left out.
        attempt_count: attempt.map_or(0, |attempt| attempt.index + 1),
        counts: execution.counts,
        flow_id: definition.flow,
        progress: execution.progress.clone(),
        usage: execution.usage.clone(),
        doing: lease.map(|lease| lease.doing.clone()).unwrap_or_default(),
        steps: StepTotals::of(&execution.steps),
        tags: Arc::clone(&execution.tags),
        worker: lease.map(|lease| lease.worker.clone()),
        worker_instance: lease.map(|lease| lease.instance.clone()),
        lease_epoch: execution.lease_epoch,
        lease_expires_at: lease.map(|lease| lease.expires_at),
        grant: execution.grant().map(|grant| GrantView {
            worker: grant.worker.clone(),
            expires_at: grant.expires_at,
        }),
        reason: outcome.and_then(|outcome| outcome.reason.clone()),
        failure: outcome.and_then(|outcome| outcome.failure.clone()),
        result_bytes: execution.result_bytes(),
        suspension: execution.suspension().map(suspension_view),
    }
}

/// Where an execution stands.
pub(super) fn state_view(execution: &Execution, environment: &Environment) -> StateView {
    let state_vector = environment.observed_state(execution);
    StateView {
        public_state: state_vector.public_state,
        state_vector,
        blocking_detail: detail(execution, environment, state_vector.blocking_reason),
    }
}

fn suspension_view(suspension: &Suspension) -> SuspensionView {
    SuspensionView {
        suspension_id: suspension.id,
        reason_code: suspension.reason_code,
        since: suspension.since,
        timeout_at: suspension.timeout_at,
        timeout_behavior: suspension.timeout_behavior,
        escalated: suspension.escalated,
        resume_condition: suspension.condition.clone(),
        waitpoints: suspension.waitpoints.clone(),
    }
}

/// Why it waits, for a person: what its facts say, unless something around it shows instead.
fn detail(execution: &Execution, environment: &Environment, shown: BlockingReason) -> Option<String> {
    if shown == state_vector(execution).blocking_reason {
        return blocking_detail(execution);
    }
    match shown {
        BlockingReason::PausedByFlowCancel => Some("its flow is cancelled; it is cancelled next".to_owned()),
        BlockingReason::PausedByPolicy => Some(lane_detail(execution, environment)),
        BlockingReason::WaitingForCapableWorker => Some(route_detail(execution, environment)),
        BlockingReason::WaitingForQuota => quota_detail(execution, environment),
        _ => None,
    }
}

/// Names the lane and its state.
pub(super) fn lane_detail(execution: &Execution, environment: &Environment) -> String {
    let state = match environment.lane(execution) {
        LaneState::Active => "active",
        LaneState::Paused => "paused",
        LaneState::Draining => "draining",
        LaneState::Disabled => "disabled",
    };
    format!("lane {} is {state}", execution.definition.lane)
}

/// Says which workers there are, and what the nearest of them lacks.
pub(super) fn route_detail(execution: &Execution, environment: &Environment) -> String {
    let lane = &execution.definition.lane;
    match environment.nearest_workers(execution).first() {
        None => format!("no live worker serves lane {lane}"),
        Some(nearest) if nearest.missing.is_empty() => format!("{} offers all it requires", nearest.instance),
        Some(nearest) => {
            let (instance, missing) = (&nearest.instance, nearest.missing.join(", "));
            format!("no live worker of lane {lane} offers all it requires; the nearest, {instance}, lacks {missing}")
        }
    }
}

fn quota_detail(execution: &Execution, environment: &Environment) -> Option<String> {
    let id = execution.definition.policy.quota_policy_id?;
    Some(match environment.headroom(execution) {
        None => format!("quota policy {id} does not exist"),
        Some(room) if room.slots == Some(0) => format!("quota policy {id}: all its leases are taken"),
        Some(_) => format!("quota policy {id}: all requests of its window are taken"),
    })
}
