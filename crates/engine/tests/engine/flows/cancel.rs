//! Cancelling and sealing a flow.

use ff_core::command::flow::{CancelFlow, CancelProgress, MemberCancellation};
use ff_core::command::lease::LetGo;
use ff_core::command::operator::{CancelExecution, Cancelled};
use ff_core::error::Code;
use ff_core::fabric::{Flows, On, Operate, Result};
use ff_core::machine::flow::FlowState;
use ff_core::record::CancelFlowPolicy as Policy;
use ff_core::state::PublicState as S;
use ff_core::time::Duration;
use futures::poll;

use super::shaky::Fate;
use super::world::{FLOW, Sketch, World, code};

/// The longest a cancellation may wait.
const PATIENCE: Duration = Duration::from_secs(30);

async fn cancel(world: &World, policy: Policy, wait: Duration) -> Result<MemberCancellation> {
    let command = CancelFlow {
        reason: "enough".to_owned(),
        policy,
        wait,
    };
    world.engine.cancel_flow(On::new(FLOW, command)).await
}

fn two_and_one() -> Sketch {
    Sketch::default()
        .member("a", &[])
        .member("b", &[])
        .member("c", &["a", "b"])
}

#[tokio::test]
async fn no_member_is_claimed_once_a_cancel_has_answered() {
    let (world, ids) = World::with(two_and_one()).await;
    let answer = cancel(&world, Policy::CancelAll, Duration::ZERO).await.unwrap();
    assert_eq!(answer.cancelled.progress, CancelProgress::Scheduled);
    assert_eq!(answer.cancelled.member_count, 3);
    assert_eq!(answer.member_execution_ids.len(), 3);
    assert_eq!(world.claim().await, []);
    world.settle().await;
    for id in ids.values() {
        assert_eq!(world.state(*id).await, S::Cancelled);
    }
    assert_eq!(world.flow().await.state, FlowState::Cancelled);
    world.assert_counted().await;
}

#[tokio::test]
async fn a_cancel_that_waits_answers_when_every_member_was_reached() {
    let (world, ids) = World::with(two_and_one()).await;
    world.claim().await;
    let answer = cancel(&world, Policy::CancelAll, PATIENCE).await.unwrap();
    assert_eq!(answer.cancelled.progress, CancelProgress::Cancelled);
    for id in ids.values() {
        assert_eq!(world.state(*id).await, S::Cancelled);
    }
}

#[tokio::test]
async fn a_cancel_that_cannot_reach_every_member_in_time_says_so() {
    let (world, ids) = World::with(two_and_one()).await;
    // The gate closes; then the store is silent.
    world.line.expect([Fate::Lands, Fate::Stalls]);
    let mut cancelling = Box::pin(cancel(&world, Policy::CancelAll, PATIENCE));
    let mut answer = None;
    for _ in 0..1_000 {
        if let std::task::Poll::Ready(answered) = poll!(&mut cancelling) {
            answer = Some(answered.unwrap());
            break;
        }
        world.pass(Duration::from_secs(1));
        tokio::task::yield_now().await;
    }
    drop(cancelling);
    let answer = answer.expect("an answer in time");
    assert_eq!(answer.cancelled.progress, CancelProgress::Scheduled);
    assert_eq!(answer.member_execution_ids.len(), 3);
    world.settle().await;
    for id in ids.values() {
        assert_eq!(world.state(*id).await, S::Cancelled);
    }
}

#[tokio::test]
async fn a_running_member_may_finish_when_only_pending_ones_are_cancelled() {
    let (world, ids) = World::with(two_and_one()).await;
    world.claim().await;
    cancel(&world, Policy::CancelPending, Duration::ZERO).await.unwrap();
    world.settle().await;
    assert_eq!(world.state(ids["a"]).await, S::Active);
    assert_eq!(world.state(ids["c"]).await, S::Cancelled);
    world.complete(ids["a"]).await;
    assert_eq!(world.state(ids["a"]).await, S::Completed);
    assert_eq!(world.release(ids["b"]).await, LetGo::Cancelled);
    assert_eq!(world.state(ids["b"]).await, S::Cancelled);
    world.assert_counted().await;
}

#[tokio::test]
async fn the_members_of_a_sealed_flow_go_on() {
    let (world, ids) = World::with(two_and_one()).await;
    let answer = cancel(&world, Policy::FlowOnly, Duration::ZERO).await.unwrap();
    assert_eq!(answer.cancelled.progress, CancelProgress::Cancelled);
    world.settle().await;
    for member in ["a", "b", "c"] {
        world.complete(ids[member]).await;
    }
    assert_eq!(world.flow().await.state, FlowState::Completed);
    let refused = world.build(Sketch::default().member("d", &[]).command(true)).await;
    assert_eq!(code(refused), Code::FlowAlreadyTerminal);
}

#[tokio::test]
async fn a_repeated_cancel_gets_the_first_answer() {
    let (world, _) = World::with(two_and_one()).await;
    cancel(&world, Policy::CancelPending, Duration::ZERO).await.unwrap();
    let again = cancel(&world, Policy::CancelAll, PATIENCE).await.unwrap();
    assert_eq!(again.cancelled.policy, Policy::CancelPending);
    assert_eq!(again.cancelled.reason, "enough");
}

#[tokio::test]
async fn a_flow_without_open_members_cannot_be_cancelled() {
    let (world, ids) = World::with(Sketch::default().member("a", &[])).await;
    world.complete(ids["a"]).await;
    let refused = cancel(&world, Policy::CancelAll, Duration::ZERO).await;
    assert_eq!(code(refused), Code::FlowAlreadyTerminal);
}

#[tokio::test]
async fn a_cancelled_member_skips_those_that_wait_for_it() {
    let (world, ids) = World::with(two_and_one()).await;
    let command = CancelExecution {
        reason: "unwanted".to_owned(),
        fence: None,
    };
    let cancelled = world.engine.cancel_execution(On::new(ids["a"], command)).await;
    assert_eq!(cancelled.unwrap(), Cancelled::Now);
    world.settle().await;
    assert_eq!(world.state(ids["c"]).await, S::Skipped);
}
