//! Replaying members: what was skipped because of them comes back.

use ff_core::command::flow::{ReplayExecution, Replayed};
use ff_core::command::operator::CancelExecution;
use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On};
use ff_core::machine::flow::FlowState;
use ff_core::name::Category;
use ff_core::policy::RetryPolicy;
use ff_core::state::PublicState as S;

use super::graph::diamond;
use super::world::{Sketch, World, code};

#[tokio::test]
async fn a_replay_reopens_what_was_skipped_because_of_it() {
    let sketch = Sketch::default()
        .member("a", &[])
        .member("b", &["a"])
        .member("c", &["b"]);
    let (world, ids) = World::with(sketch).await;
    world.fail(ids["a"]).await;
    assert_eq!(world.state(ids["c"]).await, S::Skipped);
    assert_eq!(world.flow().await.state, FlowState::Failed);
    world.replay(ids["a"]).await;
    assert_eq!(world.state(ids["b"]).await, S::WaitingChildren);
    assert_eq!(world.state(ids["c"]).await, S::WaitingChildren);
    assert_eq!(world.flow().await.state, FlowState::Running);
    for member in ["a", "b", "c"] {
        world.complete(ids[member]).await;
    }
    assert_eq!(world.flow().await.state, FlowState::Completed);
    world.assert_counted().await;
}

#[tokio::test]
async fn a_replay_reopens_more_children_than_fit_into_a_chunk() {
    let (world, ids) = World::with(diamond(150)).await;
    world.fail(ids["source"]).await;
    assert_eq!(world.flow().await.counts.of(S::Skipped), 151);
    world.replay(ids["source"]).await;
    assert_eq!(world.flow().await.counts.of(S::WaitingChildren), 151);
    world.complete(ids["source"]).await;
    assert_eq!(world.claim().await.len(), 150);
    for number in 0..150 {
        world.finish(ids[&format!("m{number}")]).await;
    }
    world.settle().await;
    world.complete(ids["sink"]).await;
    assert_eq!(world.flow().await.state, FlowState::Completed);
    world.assert_counted().await;
}

#[tokio::test]
async fn a_child_still_impossible_through_another_upstream_stays_skipped() {
    let sketch = Sketch::default()
        .member("a", &[])
        .member("b", &[])
        .member("c", &["a", "b"]);
    let (world, ids) = World::with(sketch).await;
    world.fail(ids["a"]).await;
    world.fail(ids["b"]).await;
    world.replay(ids["a"]).await;
    assert_eq!(world.state(ids["c"]).await, S::Skipped);
    world.replay(ids["b"]).await;
    assert_eq!(world.state(ids["c"]).await, S::WaitingChildren);
    world.complete(ids["a"]).await;
    world.complete(ids["b"]).await;
    assert_eq!(world.state(ids["c"]).await, S::Waiting);
}

#[tokio::test]
async fn a_skipped_member_that_is_replayed_waits_for_its_failed_upstream() {
    let (world, ids) = World::with(Sketch::default().member("a", &[]).member("b", &["a"])).await;
    world.fail(ids["a"]).await;
    world.replay(ids["b"]).await;
    assert_eq!(world.state(ids["b"]).await, S::WaitingChildren);
    world.replay(ids["a"]).await;
    world.complete(ids["a"]).await;
    assert_eq!(world.state(ids["b"]).await, S::Waiting);
}

#[tokio::test]
async fn an_execution_that_was_cancelled_before_its_retry_is_replayed() {
    let retries = |step: &mut CreateExecution| step.policy.retry_policy = Some(RetryPolicy::default());
    let (world, ids) = World::with(Sketch::default().member("a", &[]).with(retries)).await;
    world.fail_with(ids["a"], Category::infra_crash()).await;
    assert_eq!(world.state(ids["a"]).await, S::Delayed);
    let cancel = CancelExecution {
        reason: "unwanted".to_owned(),
        fence: None,
    };
    world.engine.cancel_execution(On::new(ids["a"], cancel)).await.unwrap();
    world.settle().await;
    assert_eq!(world.replay(ids["a"]).await, Replayed::Now);
    world.complete(ids["a"]).await;
    assert_eq!(world.flow().await.state, FlowState::Completed);
}

#[tokio::test]
async fn a_replayed_execution_is_not_claimed_before_its_edges_are_reopened() {
    let (world, ids) = World::with(diamond(150)).await;
    world.fail(ids["source"]).await;
    let command = On::new(ids["source"], ReplayExecution::default());
    world.engine.replay_execution(command).await.unwrap();
    assert_eq!(world.claim().await, []);
    world.settle().await;
    assert_eq!(world.claim().await, [ids["source"]]);
}

#[tokio::test]
async fn a_request_replays_once() {
    let (world, ids) = World::with(Sketch::default().member("a", &[])).await;
    world.complete(ids["a"]).await;
    let command = || ReplayExecution {
        request_id: Some("request".parse().unwrap()),
        ..ReplayExecution::default()
    };
    let first = world.engine.replay_execution(On::new(ids["a"], command())).await;
    assert_eq!(first.unwrap(), Replayed::Now);
    world.settle().await;
    let again = world.engine.replay_execution(On::new(ids["a"], command())).await;
    assert_eq!(again.unwrap(), Replayed::Already);
    let other = world
        .engine
        .replay_execution(On::new(ids["a"], ReplayExecution::default()))
        .await;
    assert_eq!(code(other), Code::ExecutionNotTerminal);
}

#[tokio::test]
async fn a_second_run_that_ends_keeps_both_attempts() {
    let (world, ids) = World::with(Sketch::default().member("a", &[])).await;
    world.fail(ids["a"]).await;
    world.replay(ids["a"]).await;
    world.complete(ids["a"]).await;
    world.replay(ids["a"]).await;
    world.complete(ids["a"]).await;
    assert_eq!(world.flow().await.state, FlowState::Completed);
}
