//! Dependencies and members added one by one.

use ff_core::command::flow::{
    AddExecution, Applied, ApplyDependency, Assembly, CreateFlowWith, Joined, SetEdgeGroupPolicy, StageDependencyEdge,
    Staged,
};
use ff_core::command::operator::Changed;
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On, Result};
use ff_core::id::{EdgeId, ExecutionId};
use ff_core::partition::PartitionCounts;
use ff_core::record::{DependencyKind, EdgeGroupPolicy, OnSatisfied};
use ff_core::state::PublicState as S;
use uuid::Uuid;

use super::world::{FLOW, Sketch, World, code, definition, submission};

fn edge(upstream: ExecutionId, downstream: ExecutionId) -> StageDependencyEdge {
    StageDependencyEdge {
        edge_id: None,
        upstream,
        downstream,
        dependency_kind: DependencyKind::SuccessOnly,
        data_passing_ref: None,
        expected_graph_revision: None,
        apply: true,
    }
}

async fn stage(world: &World, command: StageDependencyEdge) -> Result<Staged> {
    let staged = world.engine.stage_dependency_edge(On::new(FLOW, command)).await;
    world.settle().await;
    staged
}

async fn solo(world: &World, partition: u16, number: u128) -> ExecutionId {
    let id = ExecutionId::new(partition, Uuid::from_u128(number));
    let mut command = submission();
    command.execution_id = Some(id);
    world.engine.create_execution(command).await.unwrap();
    id
}

fn loose() -> Sketch {
    Sketch::default().member("a", &[]).member("b", &[]).member("c", &[])
}

#[tokio::test]
async fn a_staged_dependency_holds_its_child_back() {
    let (world, ids) = World::with(loose()).await;
    stage(&world, edge(ids["a"], ids["b"])).await.unwrap();
    assert_eq!(world.state(ids["b"]).await, S::WaitingChildren);
    world.complete(ids["a"]).await;
    assert_eq!(world.state(ids["b"]).await, S::Waiting);
}

#[tokio::test]
async fn a_dependency_counts_once_it_is_applied() {
    let (world, ids) = World::with(loose()).await;
    let staged = StageDependencyEdge {
        apply: false,
        ..edge(ids["a"], ids["b"])
    };
    let staged = stage(&world, staged).await.unwrap();
    assert_eq!(world.state(ids["b"]).await, S::Waiting);
    let apply = || {
        world.engine.apply_dependency_to_child(On::new(
            FLOW,
            ApplyDependency {
                edge_id: staged.edge_id,
            },
        ))
    };
    assert_eq!(apply().await.unwrap(), Applied::Applied { unsatisfied_count: 1 });
    assert_eq!(world.state(ids["b"]).await, S::WaitingChildren);
    assert_eq!(apply().await.unwrap(), Applied::AlreadyApplied);
    let unknown = On::new(
        FLOW,
        ApplyDependency {
            edge_id: EdgeId::from_uuid(Uuid::from_u128(9)),
        },
    );
    assert_eq!(
        code(world.engine.apply_dependency_to_child(unknown).await),
        Code::EdgeNotFound
    );
}

#[tokio::test]
async fn an_upstream_that_has_ended_resolves_at_once() {
    let (world, ids) = World::with(loose()).await;
    world.fail(ids["a"]).await;
    world.release(ids["b"]).await;
    stage(&world, edge(ids["a"], ids["c"])).await.unwrap();
    assert_eq!(
        world.state(ids["c"]).await,
        S::Active,
        "it counts at its next wait_children"
    );
}

#[tokio::test]
async fn a_cycle_is_refused() {
    let (world, ids) = World::with(loose()).await;
    stage(&world, edge(ids["a"], ids["b"])).await.unwrap();
    stage(&world, edge(ids["b"], ids["c"])).await.unwrap();
    assert_eq!(code(stage(&world, edge(ids["c"], ids["a"])).await), Code::CycleDetected);
    assert_eq!(
        code(stage(&world, edge(ids["a"], ids["a"])).await),
        Code::SelfReferencingEdge
    );
}

#[tokio::test]
async fn two_edges_staged_at_once_close_no_cycle() {
    let (world, ids) = World::with(loose()).await;
    let other = world.replica(9);
    let (one, two) = tokio::join!(
        world
            .engine
            .stage_dependency_edge(On::new(FLOW, edge(ids["a"], ids["b"]))),
        other.stage_dependency_edge(On::new(FLOW, edge(ids["b"], ids["a"]))),
    );
    let refused = [one, two].into_iter().filter_map(|staged| staged.err());
    let codes: Vec<_> = refused.map(|refusal| refusal.code).collect();
    assert_eq!(codes, [Code::CycleDetected]);
}

#[tokio::test]
async fn two_members_are_joined_by_one_edge_whatever_its_id() {
    let (world, ids) = World::with(loose()).await;
    let named = StageDependencyEdge {
        edge_id: Some(EdgeId::from_uuid(Uuid::from_u128(1))),
        ..edge(ids["a"], ids["b"])
    };
    let first = stage(&world, named.clone()).await.unwrap();
    assert_eq!(stage(&world, named.clone()).await.unwrap(), first);
    let second = stage(&world, edge(ids["a"], ids["b"])).await;
    assert_eq!(code(second), Code::DependencyAlreadyExists);
    let elsewhere = StageDependencyEdge {
        downstream: ids["c"],
        ..named
    };
    assert_eq!(code(stage(&world, elsewhere).await), Code::AlreadyExists);
}

#[tokio::test]
async fn a_graph_that_has_changed_is_noticed() {
    let (world, ids) = World::with(loose()).await;
    let first = stage(&world, edge(ids["a"], ids["b"])).await.unwrap();
    assert_eq!(first.graph_revision, 1);
    let stale = StageDependencyEdge {
        expected_graph_revision: Some(0),
        ..edge(ids["b"], ids["c"])
    };
    assert_eq!(code(stage(&world, stale).await), Code::StaleGraphRevision);
}

#[tokio::test]
async fn the_policy_of_a_group_is_fixed_by_its_first_edge() {
    let (world, ids) = World::with(loose()).await;
    let any = |execution_id| SetEdgeGroupPolicy {
        execution_id,
        policy: EdgeGroupPolicy::AnyOf {
            on_satisfied: OnSatisfied::LetRun,
        },
    };
    let set = |id| world.engine.set_edge_group_policy(On::new(FLOW, any(id)));
    assert_eq!(set(ids["b"]).await.unwrap(), Changed::Now);
    assert_eq!(set(ids["b"]).await.unwrap(), Changed::Already);
    stage(&world, edge(ids["a"], ids["c"])).await.unwrap();
    assert_eq!(code(set(ids["c"]).await), Code::GroupPolicyFixed);
}

#[tokio::test]
async fn a_solo_execution_joins_a_flow_of_its_partition() {
    let world = World::new();
    let counts = PartitionCounts::new(4, 2, 2).unwrap();
    let here = counts.of_flow(FLOW).index;
    let id = solo(&world, here, 1).await;
    let elsewhere = solo(&world, (here + 1) % 4, 2).await;
    let open = CreateFlowWith {
        flow_id: Some(FLOW),
        definition: definition(Assembly::Open),
    };
    world.engine.create_flow(open).await.unwrap();
    let add = |id| {
        world
            .engine
            .add_execution_to_flow(On::new(FLOW, AddExecution { execution_id: id }))
    };
    assert_eq!(add(id).await.unwrap(), Joined::Added { node_count: 1 });
    assert_eq!(add(id).await.unwrap(), Joined::AlreadyMember { node_count: 1 });
    assert_eq!(code(add(elsewhere).await), Code::PartitionMismatch);
    let unknown = ExecutionId::new(0, Uuid::from_u128(5));
    assert_eq!(code(add(unknown).await), Code::ExecutionNotFound);
    assert_eq!(code(stage(&world, edge(id, elsewhere)).await), Code::ExecutionNotInFlow);
    world.settle().await;
    world.complete(id).await;
    assert!(world.flow().await.ended_at.is_some());
    world.assert_counted().await;
}
