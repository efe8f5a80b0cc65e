//! The end of a member lands together with what follows from it, where that is little.

use ff_core::command::flow::StageDependencyEdge;
use ff_core::command::operator::CancelExecution;
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::machine::flow::FlowState;
use ff_core::record::{DependencyKind, EdgeGroupPolicy, OnSatisfied};
use ff_core::state::PublicState as S;

use super::graph::diamond;
use super::shaky::Fate;
use super::world::{FLOW, Sketch, World};

#[tokio::test]
async fn the_next_link_of_a_chain_can_be_claimed_before_the_pump_has_turned() {
    let sketch = Sketch::default().member("a", &[]).member("b", &["a"]);
    let (world, ids) = World::with(sketch).await;
    world.finish(ids["a"]).await;
    assert_eq!(world.claim().await, [ids["b"]]);
    world.settle().await;
    world.complete(ids["b"]).await;
    assert_eq!(world.flow().await.state, FlowState::Completed);
    world.assert_counted().await;
}

#[tokio::test]
async fn a_member_with_many_children_leaves_them_to_the_pump() {
    let (world, ids) = World::with(diamond(17)).await;
    world.finish(ids["source"]).await;
    assert_eq!(world.claim().await, []);
    world.settle().await;
    assert_eq!(world.claim().await.len(), 17);
}

#[tokio::test]
async fn a_first_of_any_that_is_let_go_at_once_still_cancels_the_others() {
    let any = EdgeGroupPolicy::AnyOf {
        on_satisfied: OnSatisfied::CancelRemaining,
    };
    let sketch = Sketch::default()
        .member("a", &[])
        .member("b", &[])
        .joining("first", &["a", "b"], any);
    let (world, ids) = World::with(sketch).await;
    world.claim().await;
    world.finish(ids["a"]).await;
    assert_eq!(world.state(ids["first"]).await, S::Waiting);
    world.settle().await;
    assert_eq!(world.state(ids["b"]).await, S::Cancelled);
}

#[tokio::test]
async fn an_edge_staged_while_its_upstream_ends_is_resolved() {
    for seed in 0..20 {
        let (world, ids) = World::with(Sketch::default().member("a", &[]).member("b", &[])).await;
        world.claim().await;
        world.release(ids["b"]).await;
        let stage = StageDependencyEdge {
            edge_id: None,
            upstream: ids["a"],
            downstream: ids["b"],
            dependency_kind: DependencyKind::SuccessOnly,
            data_passing_ref: None,
            expected_graph_revision: None,
            apply: true,
        };
        let other = world.replica(seed);
        let (staged, ()) = tokio::join!(
            other.stage_dependency_edge(On::new(FLOW, stage)),
            world.finish(ids["a"])
        );
        staged.unwrap();
        world.settle().await;
        assert_eq!(world.state(ids["b"]).await, S::Waiting);
    }
}

#[tokio::test]
async fn an_end_whose_reply_is_lost_ends_once() {
    for fate in [Fate::Fails, Fate::ReplyLost, Fate::RequestLost] {
        let sketch = Sketch::default().member("a", &[]).member("b", &["a"]);
        let (world, ids) = World::with(sketch).await;
        world.claim().await;
        world.line.expect([fate]);
        world.complete(ids["a"]).await;
        assert_eq!(world.state(ids["a"]).await, S::Completed, "{fate:?}");
        assert_eq!(world.state(ids["b"]).await, S::Waiting, "{fate:?}");
        world.assert_counted().await;
    }
}

/// Lets `b` wait for `a`, in another process.
async fn stage_elsewhere(world: &World, upstream: ExecutionId, downstream: ExecutionId) {
    let stage = StageDependencyEdge {
        edge_id: None,
        upstream,
        downstream,
        dependency_kind: DependencyKind::SuccessOnly,
        data_passing_ref: None,
        expected_graph_revision: None,
        apply: true,
    };
    let other = world.replica(9);
    other.stage_dependency_edge(On::new(FLOW, stage)).await.unwrap();
}

#[tokio::test]
async fn an_edge_that_another_process_staged_is_resolved() {
    let sketch = Sketch::default()
        .member("a", &[])
        .member("b", &["a"])
        .member("c", &["a"]);
    let (world, ids) = World::with(sketch).await;
    stage_elsewhere(&world, ids["b"], ids["c"]).await;
    world.complete(ids["a"]).await;
    assert_eq!(world.state(ids["b"]).await, S::Waiting);
    assert_eq!(world.state(ids["c"]).await, S::WaitingChildren);
    world.complete(ids["b"]).await;
    assert_eq!(world.state(ids["c"]).await, S::Waiting);
    world.assert_counted().await;
}

#[tokio::test]
async fn a_child_that_another_process_cancelled_stays_cancelled() {
    let sketch = Sketch::default().member("a", &[]).member("b", &["a"]);
    let (world, ids) = World::with(sketch).await;
    let cancel = CancelExecution {
        reason: "not needed".to_owned(),
        fence: None,
    };
    let cancelled = On::new(ids["b"], cancel);
    world.replica(9).cancel_execution(cancelled).await.unwrap();
    world.complete(ids["a"]).await;
    assert_eq!(world.state(ids["b"]).await, S::Cancelled);
    assert_eq!(world.flow().await.state, FlowState::Failed);
    world.assert_counted().await;
}

#[tokio::test]
async fn the_second_end_of_a_replayed_member_lets_its_child_go() {
    let sketch = Sketch::default().member("a", &[]).member("b", &["a"]);
    let (world, ids) = World::with(sketch).await;
    world.fail(ids["a"]).await;
    assert_eq!(world.state(ids["b"]).await, S::Skipped);
    world.replay(ids["a"]).await;
    world.complete(ids["a"]).await;
    assert_eq!(world.state(ids["b"]).await, S::Waiting);
    world.complete(ids["b"]).await;
    assert_eq!(world.flow().await.state, FlowState::Completed);
    world.assert_counted().await;
}

#[tokio::test]
async fn a_join_whose_upstreams_end_in_two_processes_is_let_go_once() {
    let sketch = Sketch::default()
        .member("a", &[])
        .member("b", &[])
        .member("both", &["a", "b"]);
    let (mut world, ids) = World::with(sketch).await;
    world.claim().await;
    let other = world.replica(9);
    let first = std::mem::replace(&mut world.engine, other);
    world.finish(ids["a"]).await;
    world.engine = first;
    world.complete(ids["b"]).await;
    assert_eq!(world.state(ids["both"]).await, S::Waiting);
    world.assert_counted().await;
}

#[tokio::test]
async fn a_small_graph_is_there_in_one_transaction() {
    let world = World::new();
    let sketch = Sketch::default().member("a", &[]).member("b", &["a"]);
    world.build(sketch.command(true)).await.unwrap();
    let flow = world.flow().await;
    assert_eq!((flow.counts.members, flow.graph_revision), (2, 1));
    assert_eq!(world.claim().await.len(), 1, "before the pump has turned");
    world.settle().await;
    world.assert_counted().await;
}
