//! What a lease holder does: leases and children.

use super::support::faulty::{Call, Fault};
use super::support::{Held, LEASE_TTL, World, code, take, work};
use ff_core::command::flow::{WaitChildren, WaitedChildren};
use ff_core::command::lease::{Complete, Completed, LetGo, Release, Renew, UpdateProgress};
use ff_core::command::submit::{CreateExecution, DependsOn};
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::record::{Actor, DependencyKind};
use ff_core::state::{PublicState, public_state};

fn on<C>(held: Held, command: C) -> On<ExecutionId, C> {
    On::new(held.id, command)
}

fn renewal(held: Held) -> On<ExecutionId, Renew> {
    let fence = Some(held.fence);
    on(
        held,
        Renew {
            fence,
            ..Renew::default()
        },
    )
}

fn completion(held: Held) -> On<ExecutionId, Complete> {
    let fence = Some(held.fence);
    on(
        held,
        Complete {
            fence,
            result: None,
            ..Complete::default()
        },
    )
}

#[tokio::test]
async fn a_holder_this_process_has_seen_needs_no_read() {
    let world = World::new();
    let held = world.running(work()).await;
    let renewed = world.engine.renew(renewal(held)).await.unwrap();
    assert_eq!(renewed.expires_at, world.backend.memory.now() + LEASE_TTL);
    let loads = world.backend.count(Call::Load);
    let progress = UpdateProgress {
        fence: Some(held.fence),
        progress: ff_core::command::steps::ProgressNote {
            pct: Some(50),
            message: None,
        },
    };
    world.engine.update_progress(on(held, progress)).await.unwrap();
    assert_eq!(world.engine.complete(completion(held)).await.unwrap(), Completed::Now);
    assert_eq!(world.backend.count(Call::Load), loads);
    assert_eq!(public_state(&world.read(held.id)), PublicState::Completed);
}

#[tokio::test]
async fn ending_a_lease_is_safe_to_repeat_and_survives_a_lost_reply() {
    let world = World::new();
    let held = world.running(work()).await;
    world.backend.script(Call::Commit, Fault::lost());
    assert_eq!(world.engine.complete(completion(held)).await.unwrap(), Completed::Now);
    assert_eq!(
        world.engine.complete(completion(held)).await.unwrap(),
        Completed::Already
    );
    let release = Release {
        fence: Some(held.fence),
        ..Release::default()
    };
    assert_eq!(
        code(world.engine.release(on(held, release)).await),
        Code::ExecutionNotActive
    );
}

#[tokio::test]
async fn a_released_task_goes_on_as_the_same_attempt() {
    let world = World::new();
    let held = world.running(work()).await;
    let release = Release {
        fence: Some(held.fence),
        ..Release::default()
    };
    assert_eq!(world.engine.release(on(held, release)).await.unwrap(), LetGo::Now);
    let again = take(&world.backend.memory, 2);
    assert_eq!(again.fence.attempt_id, held.fence.attempt_id);
    assert_eq!(code(world.engine.renew(renewal(held)).await), Code::ExecutionNotActive);
}

#[tokio::test]
async fn a_lease_is_refused_when_it_ran_out_in_the_store_whatever_is_remembered() {
    let world = World::new();
    let held = world.running(work()).await;
    world.engine.renew(renewal(held)).await.unwrap();
    // Only the store's clock counts: this process does not know yet how late it is.
    world.backend.memory.advance(LEASE_TTL);
    assert_eq!(code(world.engine.complete(completion(held)).await), Code::LeaseExpired);
}

#[tokio::test]
async fn another_namespaces_holder_finds_nothing() {
    let world = World::new();
    let held = world.running(work()).await;
    world.engine.renew(renewal(held)).await.unwrap();
    let stranger = world.bound_to("elsewhere");
    assert_eq!(code(stranger.renew(renewal(held)).await), Code::ExecutionNotFound);
    assert_eq!(code(stranger.complete(completion(held)).await), Code::ExecutionNotFound);
}

#[tokio::test]
async fn histories_name_the_worker() {
    let world = World::new();
    let held = world.running(work()).await;
    world.engine.complete(completion(held)).await.unwrap();
    let query = ff_backend::query::Query {
        of: ff_backend::query::Listing::History(ff_core::record::HistorySubject::Execution(held.id)),
        after: None,
        limit: 100,
    };
    let page = ff_backend::Backend::list(&*world.backend, query).await.unwrap();
    let last = page.history().pop().unwrap();
    assert!(
        matches!(&last.actor, Actor::Worker(instance) if instance.as_str() == "worker-1"),
        "{last:?}"
    );
}

fn depends_on(upstream: ExecutionId) -> DependsOn {
    DependsOn {
        edge_id: None,
        upstream,
        dependency_kind: DependencyKind::default(),
        data_passing_ref: None,
    }
}

#[tokio::test]
async fn a_member_without_open_dependencies_keeps_its_lease() {
    let world = World::new();
    let flow_id = world.create_flow(1, "default");
    let member = CreateExecution {
        flow_id: Some(flow_id),
        ..work()
    };
    let held = world.running(member).await;
    let fence = Some(held.fence);
    let waited = world
        .engine
        .wait_children(on(
            held,
            WaitChildren {
                fence,
                ..WaitChildren::default()
            },
        ))
        .await
        .unwrap();
    assert_eq!(waited, WaitedChildren::AlreadySatisfied);
    assert!(world.read(held.id).lease().unwrap().confirmed);
}

#[tokio::test]
async fn a_solo_execution_has_no_children_to_wait_for() {
    let world = World::new();
    let held = world.running(work()).await;
    let fence = None;
    let refused = world
        .engine
        .wait_children(on(
            held,
            WaitChildren {
                fence,
                ..WaitChildren::default()
            },
        ))
        .await;
    assert_eq!(code(refused), Code::FenceRequired);
    let fence = Some(held.fence);
    let waited = world
        .engine
        .wait_children(on(
            held,
            WaitChildren {
                fence,
                ..WaitChildren::default()
            },
        ))
        .await
        .unwrap();
    assert_eq!(waited, WaitedChildren::AlreadySatisfied);
}

#[tokio::test]
async fn an_open_dependency_makes_the_holder_wait() {
    let world = World::new();
    let flow_id = world.create_flow(1, "default");
    let member = CreateExecution {
        flow_id: Some(flow_id),
        ..work()
    };
    let upstream = world.running(member.clone()).await;
    let waiting = CreateExecution {
        depends_on: vec![depends_on(upstream.id)],
        ..member
    };
    let downstream = world.submit(waiting).await;
    // It runs although its dependency is open: as if the edge had been applied while it ran.
    let held = run_anyway(&world, downstream);
    let fence = Some(held.fence);
    let waited = world
        .engine
        .wait_children(on(
            held,
            WaitChildren {
                fence,
                ..WaitChildren::default()
            },
        ))
        .await
        .unwrap();
    assert_eq!(waited, WaitedChildren::Waiting);
    assert_eq!(public_state(&world.read(held.id)), PublicState::WaitingChildren);
}

fn run_anyway(world: &World, id: ExecutionId) -> Held {
    let key = ff_core::record::RecordKey::Execution(id);
    let snapshot = super::support::load(&world.backend.memory, id.partition(), [key.clone()]);
    let mut execution = snapshot.execution(&key).unwrap().clone();
    execution.dependencies.as_mut().unwrap().waiting = false;
    let mut draft = ff_core::machine::Draft::default();
    draft.put(execution);
    super::support::commit(&world.backend.memory, draft, &snapshot);
    take(&world.backend.memory, 9)
}
