//! What the ends of upstreams do to those that wait for them.

use ff_core::machine::flow::FlowState;
use ff_core::record::{EdgeGroupPolicy, OnSatisfied};
use ff_core::state::PublicState as S;

use super::world::{Sketch, World};

const ANY: EdgeGroupPolicy = EdgeGroupPolicy::AnyOf {
    on_satisfied: OnSatisfied::CancelRemaining,
};

#[tokio::test]
async fn a_chain_runs_link_by_link() {
    let sketch = Sketch::default()
        .member("a", &[])
        .member("b", &["a"])
        .member("c", &["b"]);
    let (world, ids) = World::with(sketch).await;
    assert_eq!(world.claim().await, [ids["a"]]);
    assert_eq!(world.state(ids["b"]).await, S::WaitingChildren);
    world.complete(ids["a"]).await;
    assert_eq!(world.state(ids["b"]).await, S::Waiting);
    world.complete(ids["b"]).await;
    world.complete(ids["c"]).await;
    let flow = world.flow().await;
    assert_eq!(flow.state, FlowState::Completed);
    assert!(flow.ended_at.is_some());
    world.assert_counted().await;
}

#[tokio::test]
async fn a_join_waits_for_all_of_its_upstreams() {
    let sketch = Sketch::default()
        .member("a", &[])
        .member("b", &[])
        .member("c", &["a", "b"]);
    let (world, ids) = World::with(sketch).await;
    world.complete(ids["a"]).await;
    assert_eq!(world.state(ids["c"]).await, S::WaitingChildren);
    world.complete(ids["b"]).await;
    assert_eq!(world.state(ids["c"]).await, S::Waiting);
}

#[tokio::test]
async fn upstreams_that_end_together_let_their_child_go_once() {
    let sketch = Sketch::default()
        .member("a", &[])
        .member("b", &[])
        .member("c", &["a", "b"]);
    let (world, ids) = World::with(sketch).await;
    world.finish(ids["a"]).await;
    world.finish(ids["b"]).await;
    world.settle().await;
    assert_eq!(world.claim().await, [ids["c"]]);
    world.assert_counted().await;
}

#[tokio::test]
async fn the_first_of_any_cancels_the_others() {
    let sketch = Sketch::default()
        .member("a", &[])
        .member("b", &[])
        .member("c", &[])
        .joining("first", &["a", "b", "c"], ANY);
    let (world, ids) = World::with(sketch).await;
    world.claim().await;
    world.complete(ids["b"]).await;
    assert_eq!(world.state(ids["a"]).await, S::Cancelled);
    assert_eq!(world.state(ids["c"]).await, S::Cancelled);
    assert_eq!(world.state(ids["first"]).await, S::Waiting);
    world.assert_counted().await;
}

#[tokio::test]
async fn an_upstream_another_open_child_needs_is_not_cancelled() {
    let sketch = Sketch::default()
        .member("a", &[])
        .member("b", &[])
        .joining("first", &["a", "b"], ANY)
        .member("other", &["b"]);
    let (world, ids) = World::with(sketch).await;
    world.complete(ids["a"]).await;
    assert_eq!(world.state(ids["first"]).await, S::Waiting);
    assert_eq!(world.state(ids["b"]).await, S::Active);
    world.complete(ids["b"]).await;
    assert_eq!(world.state(ids["other"]).await, S::Waiting);
}

#[tokio::test]
async fn a_quorum_that_cannot_be_reached_skips_what_follows() {
    let quorum = EdgeGroupPolicy::Quorum {
        k: 2,
        on_satisfied: OnSatisfied::CancelRemaining,
    };
    let sketch = Sketch::default()
        .member("a", &[])
        .member("b", &[])
        .member("c", &[])
        .joining("vote", &["a", "b", "c"], quorum)
        .member("then", &["vote"])
        .member("last", &["then"]);
    let (world, ids) = World::with(sketch).await;
    world.fail(ids["a"]).await;
    assert_eq!(world.state(ids["vote"]).await, S::WaitingChildren);
    world.fail(ids["b"]).await;
    assert_eq!(world.state(ids["c"]).await, S::Cancelled, "nobody needs it any more");
    for skipped in ["vote", "then", "last"] {
        assert_eq!(world.state(ids[skipped]).await, S::Skipped, "{skipped}");
    }
    assert_eq!(world.flow().await.state, FlowState::Failed);
    world.assert_counted().await;
}
