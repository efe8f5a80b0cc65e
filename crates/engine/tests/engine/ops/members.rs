//! Submitting into a flow: members, dependencies, and workers that spawn.

use super::support::faulty::{Call, Fault};
use super::support::{Held, LEASE_TTL, World, code, load, work};
use ff_core::command::lease::{Holder, Renew};
use ff_core::command::submit::{CreateExecution, Created, DependsOn};
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On};
use ff_core::id::{EdgeId, ExecutionId, FlowId};
use ff_core::name::{IdempotencyKey, Namespace};
use ff_core::record::{DependencyKind, RecordKey};
use ff_core::state::{PublicState, public_state};
use ff_core::time::Duration;
use uuid::Uuid;

fn keyed(key: &str) -> CreateExecution {
    CreateExecution {
        idempotency_key: Some(IdempotencyKey::parse(key).unwrap()),
        ..work()
    }
}

fn duplicate(execution_id: ExecutionId) -> Created {
    Created::Duplicate {
        execution_id,
        content_differs: false,
    }
}

fn member_of(flow: u128) -> CreateExecution {
    CreateExecution {
        flow_id: Some(FlowId::from_uuid(Uuid::from_u128(flow))),
        ..work()
    }
}

fn on(upstream: ExecutionId) -> DependsOn {
    DependsOn {
        edge_id: None,
        upstream,
        dependency_kind: DependencyKind::default(),
        data_passing_ref: None,
    }
}

#[tokio::test]
async fn a_member_lives_with_its_flow_and_waits_for_its_upstreams() {
    let world = World::new();
    let flow_id = world.create_flow(1, "default");
    let upstream = world.submit(member_of(1)).await;
    assert_eq!(upstream.partition(), world.counts.of_flow(flow_id));
    let waiting = CreateExecution {
        depends_on: vec![on(upstream)],
        ..member_of(1)
    };
    let downstream = world.submit(waiting).await;
    assert_eq!(public_state(&world.read(downstream)), PublicState::WaitingChildren);
    let flow = load(
        &world.backend.memory,
        downstream.partition(),
        [RecordKey::Flow(flow_id)],
    );
    assert_eq!(flow.flow(&RecordKey::Flow(flow_id)).unwrap().graph_revision, 1);
}

#[tokio::test]
async fn members_with_dependencies_are_submitted_side_by_side() {
    let world = World::new();
    world.create_flow(1, "default");
    let upstream = world.submit(member_of(1)).await;
    let waiting = CreateExecution {
        depends_on: vec![on(upstream)],
        ..member_of(1)
    };
    let answers = world.engine.create_executions(vec![waiting; 60]).await.unwrap();
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
}

#[tokio::test]
async fn a_member_names_only_members_of_its_own_flow() {
    let world = World::new();
    world.create_flow(1, "default");
    world.create_flow(2, "default");
    let solo = world.submit(work()).await;
    let cousin = world.submit(member_of(2)).await;
    let unknown = ExecutionId::new(300, Uuid::from_u128(9));
    for upstream in [solo, cousin, unknown] {
        let stranger = CreateExecution {
            depends_on: vec![on(upstream)],
            ..member_of(1)
        };
        assert_eq!(
            code(world.engine.create_execution(stranger).await),
            Code::ExecutionNotInFlow
        );
    }
    assert_eq!(
        code(world.engine.create_execution(member_of(3)).await),
        Code::FlowNotFound
    );
}

#[tokio::test]
async fn a_taken_edge_id_is_refused_and_not_tried_for_ever() {
    let world = World::new();
    world.create_flow(1, "default");
    let upstream = world.submit(member_of(1)).await;
    let other = world.submit(member_of(1)).await;
    let named = |upstream| DependsOn {
        edge_id: Some(EdgeId::from_uuid(Uuid::from_u128(77))),
        ..on(upstream)
    };
    let waiting = |depends_on| CreateExecution {
        depends_on,
        ..member_of(1)
    };
    let twice = waiting(vec![named(upstream), named(other)]);
    assert_eq!(
        code(world.engine.create_execution(twice).await),
        Code::DependencyAlreadyExists
    );
    world.submit(waiting(vec![named(upstream)])).await;
    let taken = waiting(vec![named(other)]);
    assert_eq!(
        code(world.engine.create_execution(taken).await),
        Code::DependencyAlreadyExists
    );
}

#[tokio::test]
async fn a_key_of_a_member_is_its_flows_own() {
    let world = World::new();
    world.create_flow(1, "default");
    world.create_flow(2, "default");
    let keyed_in = |flow| CreateExecution {
        flow_id: member_of(flow).flow_id,
        ..keyed("step")
    };
    let first = world.submit(keyed_in(1)).await;
    let other = world.submit(keyed_in(2)).await;
    assert_ne!(first, other);
    assert_eq!(
        world.engine.create_execution(keyed_in(1)).await.unwrap(),
        duplicate(first)
    );
}

#[tokio::test]
async fn a_stranger_does_not_learn_of_a_flows_keys() {
    let world = World::new();
    world.create_flow(1, "default");
    let keyed = CreateExecution {
        flow_id: member_of(1).flow_id,
        ..keyed("step")
    };
    world.submit(keyed.clone()).await;
    let spying = CreateExecution {
        namespace: Namespace::parse("elsewhere").unwrap(),
        ..keyed
    };
    let stranger = world.bound_to("elsewhere");
    assert_eq!(code(stranger.create_execution(spying).await), Code::FlowNotFound);
}

fn spawned_by(parent: Held) -> CreateExecution {
    CreateExecution {
        parent_fence: Some(Holder {
            execution_id: parent.id,
            fence: parent.fence,
        }),
        ..member_of(1)
    }
}

#[tokio::test]
async fn a_worker_spawns_into_its_flow_while_it_holds_its_lease() {
    let world = World::new();
    world.create_flow(1, "default");
    let parent = world.running(member_of(1)).await;
    let child = world.submit(spawned_by(parent)).await;
    assert_eq!(child.partition(), parent.id.partition());
    // A spawn is a fenced call: the lease is not taken back as one nobody used.
    assert!(world.read(parent.id).lease().unwrap().confirmed);
    let waits_for_parent = CreateExecution {
        depends_on: vec![on(parent.id)],
        ..spawned_by(parent)
    };
    world.submit(waits_for_parent).await;

    let mut stolen = parent;
    stolen.fence.lease_epoch += 1;
    assert_eq!(
        code(world.engine.create_execution(spawned_by(stolen)).await),
        Code::StaleLease
    );
    world.advance(LEASE_TTL);
    assert_eq!(
        code(world.engine.create_execution(spawned_by(parent)).await),
        Code::LeaseExpired
    );
}

#[tokio::test]
async fn a_spawn_lands_only_under_the_lease_it_was_decided_under() {
    let world = World::new();
    world.create_flow(1, "default");
    let parent = world.running(member_of(1)).await;
    let renewal = On::new(
        parent.id,
        Renew {
            fence: Some(parent.fence),
            ttl: None,
            doing: Vec::new(),
        },
    );
    world.engine.renew(renewal).await.unwrap();
    // The lease runs out between the decision and the commit.
    let late = Fault::After(Box::new(|memory| memory.advance(LEASE_TTL)));
    world.backend.script(Call::Commit, late);
    assert_eq!(
        code(world.engine.create_execution(spawned_by(parent)).await),
        Code::LeaseExpired
    );
    assert_eq!(world.executions(), 1);
}

#[tokio::test]
async fn a_repeated_spawn_is_a_duplicate_after_its_parent_has_ended() {
    let world = World::new();
    world.create_flow(1, "default");
    let parent = world.running(member_of(1)).await;
    let command = CreateExecution {
        idempotency_key: Some(IdempotencyKey::parse("child").unwrap()),
        ..spawned_by(parent)
    };
    let child = world.submit(command.clone()).await;
    world.advance(Duration::from_secs(60));
    assert_eq!(world.engine.create_execution(command).await.unwrap(), duplicate(child));
}

#[tokio::test]
async fn a_parent_of_another_flow_or_of_none_is_refused() {
    let world = World::new();
    world.create_flow(1, "default");
    let solo = world.running(work()).await;
    assert_eq!(
        code(world.engine.create_execution(spawned_by(solo)).await),
        Code::ExecutionNotInFlow
    );
    let flowless = CreateExecution {
        flow_id: None,
        ..spawned_by(solo)
    };
    assert_eq!(code(world.engine.create_execution(flowless).await), Code::InvalidInput);
}
