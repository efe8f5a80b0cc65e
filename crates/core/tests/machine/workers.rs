//! Workers, lanes, and what a read adds to the stored state.

use crate::support::{START, World};
use ff_core::capability::CapabilitySet;
use ff_core::command::operator::{Changed, HoldExecution};
use ff_core::command::submit::{CreateExecution, LaneState};
use ff_core::command::worker::{Heartbeat, RegisterWorker};
use ff_core::error::Code;
use ff_core::limits::{LANES_MAX, LANES_PER_WORKER_MAX};
use ff_core::machine::{Context, lane, operator, worker};
use ff_core::name::{ExecutionKind, LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::overlay::{Surroundings, observed_state};
use ff_core::payload::Payload;
use ff_core::record::{Execution, GateState, Incarnation, Worker};
use ff_core::state::{BlockingReason, EligibilityState, PublicState};
use ff_core::time::Duration;
use uuid::Uuid;

fn capabilities(tokens: &[&str]) -> CapabilitySet {
    CapabilitySet::parse(tokens.iter().copied()).unwrap()
}

fn registration(incarnation: u128) -> RegisterWorker {
    RegisterWorker {
        namespace: Namespace::default_namespace(),
        worker: WorkerId::parse("indexer").unwrap(),
        instance: WorkerInstanceId::parse("indexer-1").unwrap(),
        incarnation: Incarnation(Uuid::from_u128(incarnation)),
        lanes: vec![LaneId::default_lane()],
        capabilities: capabilities(&["gpu"]),
        ttl: Some(Duration::from_secs(20)),
        load: Default::default(),
    }
}

fn heartbeat(incarnation: u128) -> Heartbeat {
    Heartbeat {
        instance: WorkerInstanceId::parse("indexer-1").unwrap(),
        incarnation: Incarnation(Uuid::from_u128(incarnation)),
    }
}

fn at(seconds: u64) -> Context {
    Context::engine(START + Duration::from_secs(seconds))
}

fn registered() -> Worker {
    worker::register(None, &registration(1), &at(0)).unwrap()
}

#[test]
fn a_second_live_incarnation_of_an_instance_is_refused() {
    let first = registered();
    let refused = worker::register(Some(&first), &registration(2), &at(19)).unwrap_err();
    assert_eq!(refused.code, Code::DuplicateWorkerInstance);
}

#[test]
fn a_dead_incarnations_place_is_free_after_its_time() {
    let first = registered();
    let second = worker::register(Some(&first), &registration(2), &at(20)).unwrap();
    assert_eq!(second.incarnation, Incarnation(Uuid::from_u128(2)));
    assert_eq!(second.registered_at, at(20).now);
}

#[test]
fn the_same_incarnation_registers_again_and_keeps_its_start() {
    let again = worker::register(Some(&registered()), &registration(1), &at(10)).unwrap();
    assert_eq!((again.registered_at, again.seen_at), (START, at(10).now));
}

#[test]
fn a_heartbeat_keeps_a_worker_alive_and_does_not_wake_the_dead() {
    let seen = worker::heartbeat(Some(&registered()), &heartbeat(1), &Default::default(), &at(15)).unwrap();
    assert!(seen.is_live(at(34).now) && !seen.is_live(at(35).now));
    let dead = worker::heartbeat(Some(&registered()), &heartbeat(1), &Default::default(), &at(20)).unwrap_err();
    assert_eq!(dead.code, Code::WorkerNotFound);
    let other = worker::heartbeat(Some(&registered()), &heartbeat(2), &Default::default(), &at(1)).unwrap_err();
    assert_eq!(other.code, Code::DuplicateWorkerInstance);
}

#[test]
fn only_its_own_incarnation_deregisters_a_worker() {
    assert!(worker::deregister(Some(&registered()), &heartbeat(1)).is_ok());
    let other = worker::deregister(Some(&registered()), &heartbeat(2)).unwrap_err();
    assert_eq!(other.code, Code::DuplicateWorkerInstance);
    assert_eq!(
        worker::deregister(None, &heartbeat(1)).unwrap_err().code,
        Code::WorkerNotFound
    );
}

#[test]
fn a_worker_serves_between_one_and_a_thousand_lanes() {
    for lanes in [0, LANES_PER_WORKER_MAX + 1] {
        let mut command = registration(1);
        command.lanes = vec![LaneId::default_lane(); lanes];
        let refused = worker::register(None, &command, &at(0)).unwrap_err();
        assert_eq!(refused.code, Code::InvalidInput, "{lanes} lanes");
    }
}

#[test]
fn a_lane_changes_its_state_once() {
    let (namespace, name) = (Namespace::default_namespace(), LaneId::default_lane());
    let lane = lane::create(&namespace, &name, 0, &at(0)).unwrap();
    let (paused, changed) = lane::set_state(&lane, LaneState::Paused, &at(5));
    assert_eq!((paused.state, changed), (LaneState::Paused, Changed::Now));
    assert_eq!(
        lane::set_state(&paused, LaneState::Paused, &at(9)),
        (paused.clone(), Changed::Already)
    );
    let full = lane::create(&namespace, &name, LANES_MAX, &at(0)).unwrap_err();
    assert_eq!(full.code, Code::InvalidInput);
}

#[test]
fn lane_states_accept_and_hand_out_as_named() {
    let table = [
        (LaneState::Active, true, true),
        (LaneState::Paused, true, false),
        (LaneState::Draining, false, true),
        (LaneState::Disabled, false, false),
    ];
    for (state, accepts, hands_out) in table {
        assert_eq!((state.accepts(), state.hands_out()), (accepts, hands_out), "{state:?}");
    }
}

/// A submitted execution that needs a GPU, in its world.
fn waiting() -> (World, Execution) {
    let mut world = World::new();
    let mut command = CreateExecution::new(ExecutionKind::parse("k").unwrap(), Payload::default());
    command.policy.routing_requirements.required_capabilities = capabilities(&["gpu"]);
    let id = world.submit(&command).unwrap();
    let execution = world.execution(id).unwrap();
    (world, execution)
}

fn surroundings(workers: &[Worker]) -> Surroundings<'_> {
    Surroundings {
        now: at(1).now,
        lane: LaneState::Active,
        gate: None,
        workers,
        quota_full: false,
    }
}

#[test]
fn overlays_say_why_an_eligible_execution_is_not_handed_out() {
    let (_, execution) = waiting();
    let workers = [registered()];
    let fine = surroundings(&workers);
    let cases = [
        (fine, EligibilityState::EligibleNow, BlockingReason::WaitingForWorker),
        (
            Surroundings {
                lane: LaneState::Paused,
                ..fine
            },
            EligibilityState::BlockedByLaneState,
            BlockingReason::PausedByPolicy,
        ),
        (
            Surroundings { workers: &[], ..fine },
            EligibilityState::BlockedByRoute,
            BlockingReason::WaitingForCapableWorker,
        ),
        (
            Surroundings {
                now: at(20).now,
                ..fine
            },
            EligibilityState::BlockedByRoute,
            BlockingReason::WaitingForCapableWorker,
        ),
        (
            Surroundings {
                gate: Some(GateState::Cancelled),
                ..fine
            },
            EligibilityState::BlockedByOperator,
            BlockingReason::PausedByFlowCancel,
        ),
    ];
    for (around, eligibility, reason) in cases {
        let seen = observed_state(&execution, &around);
        assert_eq!((seen.eligibility_state, seen.blocking_reason), (eligibility, reason));
        assert_eq!(
            seen.public_state,
            PublicState::Waiting,
            "an overlay never changes the public state"
        );
    }
}

#[test]
fn one_worker_must_offer_everything() {
    let (_, execution) = waiting();
    let halves = [
        Worker {
            capabilities: capabilities(&["cpu"]),
            ..registered()
        },
        Worker {
            lanes: vec![LaneId::parse("other").unwrap()],
            ..registered()
        },
        Worker {
            namespace: Namespace::parse("other").unwrap(),
            ..registered()
        },
    ];
    let seen = observed_state(&execution, &surroundings(&halves));
    assert_eq!(seen.eligibility_state, EligibilityState::BlockedByRoute);
}

#[test]
fn a_stored_reason_shows_before_every_overlay() {
    let (world, execution) = waiting();
    let context = world.context(&execution);
    let held = operator::hold(&execution, &HoldExecution { reason: None }, &context).unwrap();
    let held = held.draft.execution(execution.id).unwrap();
    let seen = observed_state(
        held,
        &Surroundings {
            lane: LaneState::Paused,
            ..surroundings(&[])
        },
    );
    assert_eq!(seen.blocking_reason, BlockingReason::PausedByOperator);
}
