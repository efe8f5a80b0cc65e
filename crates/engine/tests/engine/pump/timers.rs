//! What time does to one record.

use super::support::World;
use ff_core::command::lease::{Complete, Renew};
use ff_core::command::suspend::{Suspend, WaitpointChoice};
use ff_core::command::waitpoint::CreatePendingWaitpoint;
use ff_core::id::{BudgetId, ExecutionId, WaitpointId};
use ff_core::machine::budget::Stop;
use ff_core::machine::claim::HandOut;
use ff_core::machine::{lease, suspend, waitpoint};
use ff_core::policy::{Policy, Retention, TimeoutPolicy};
use ff_core::record::{Fence, ReasonCode, RecordKey, ResumeCondition, TimeoutBehavior, WaitpointUse};
use ff_core::state::PublicState;
use ff_core::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// Lets `duration` pass less a millisecond, sees that nothing happens, then lets the last millisecond pass.
async fn becomes_due_after(world: &World, id: ExecutionId, duration: Duration) {
    let before = world.find(id).await;
    world.pass(duration.saturating_sub(Duration::from_millis(1)));
    world.pump().await;
    assert_eq!(world.find(id).await, before, "too early");
    world.pass(Duration::from_millis(1));
    world.pump().await;
}

async fn leased(world: &World, policy: Policy) -> (ExecutionId, Fence) {
    let id = world.submit_with(policy).await;
    let fence = world.lease(id).await;
    let renew = Renew {
        fence: Some(fence),
        ttl: None,
        doing: Vec::new(),
    };
    world.decide(id, |it, context| lease::renew(it, &renew, context)).await;
    (id, fence)
}

#[tokio::test]
async fn a_delay_ends() {
    let world = World::new();
    let until = world.now() + SECOND;
    let id = world.submit(|command| command.delay_until = Some(until)).await;
    assert_eq!(world.state(id).await, PublicState::Delayed);
    becomes_due_after(&world, id, SECOND).await;
    assert_eq!(world.state(id).await, PublicState::Waiting);
}

#[tokio::test]
async fn a_grant_lapses() {
    let world = World::new();
    let id = world.submit(|_| ()).await;
    world.reserve(HandOut::Grant).await;
    becomes_due_after(&world, id, Duration::from_secs(5)).await;
    assert!(world.execution(id).await.grant().is_none());
    assert_eq!(world.state(id).await, PublicState::Waiting);
}

#[tokio::test]
async fn a_lease_nobody_used_goes_back_and_one_in_use_is_reclaimed() {
    let world = World::new();
    let id = world.submit(|_| ()).await;
    world.reserve(HandOut::Lease).await;
    becomes_due_after(&world, id, Duration::from_secs(10)).await;
    assert_eq!(world.execution(id).await.counts.unconfirmed_returns, 1);
    assert_eq!(world.execution(id).await.counts.reclaims, 0);

    let fence = world.lease(id).await;
    let renew = Renew {
        fence: Some(fence),
        ttl: None,
        doing: Vec::new(),
    };
    world.decide(id, |it, context| lease::renew(it, &renew, context)).await;
    becomes_due_after(&world, id, Duration::from_secs(30)).await;
    assert_eq!(world.execution(id).await.counts.reclaims, 1);
    assert_eq!(world.state(id).await, PublicState::Waiting);
}

#[tokio::test]
async fn an_attempt_times_out() {
    let world = World::new();
    let policy = Policy {
        timeout_policy: Some(TimeoutPolicy {
            attempt_timeout: Some(Duration::from_secs(3)),
            execution_deadline: None,
        }),
        ..Policy::default()
    };
    let (id, _) = leased(&world, policy).await;
    becomes_due_after(&world, id, Duration::from_secs(3)).await;
    assert_eq!(world.state(id).await, PublicState::Failed);
}

#[tokio::test]
async fn a_deadline_passes_wherever_the_execution_stands() {
    let world = World::new();
    let policy = Policy {
        timeout_policy: Some(TimeoutPolicy {
            attempt_timeout: None,
            execution_deadline: Some(Duration::from_secs(4)),
        }),
        ..Policy::default()
    };
    let waiting = world.submit_with(policy.clone()).await;
    becomes_due_after(&world, waiting, Duration::from_secs(4)).await;
    assert_eq!(world.state(waiting).await, PublicState::Expired);
    let (running, _) = leased(&world, policy).await;
    becomes_due_after(&world, running, Duration::from_secs(4)).await;
    assert_eq!(world.state(running).await, PublicState::Expired);
}

#[tokio::test]
async fn a_suspension_times_out_as_it_was_told_to() {
    let world = World::new();
    let (id, fence) = leased(&world, Policy::default()).await;
    let command = Suspend {
        fence: Some(fence),
        waitpoints: vec![WaitpointChoice::Fresh {
            waitpoint_key: "key".parse().unwrap(),
            waitpoint_id: None,
        }],
        resume_condition: ResumeCondition::OperatorOnly,
        reason_code: ReasonCode::WaitingForApproval,
        timeout_at: Some(world.now() + SECOND),
        timeout_behavior: Some(TimeoutBehavior::Cancel),
        resume_delay: Duration::ZERO,
        idempotency_key: None,
        suspension_id: None,
        step: None,
        steps: Vec::new(),
    };
    world
        .decide(id, |it, context| {
            suspend::suspend(it, &command, suspend::Early::default(), context)
        })
        .await;
    assert_eq!(world.state(id).await, PublicState::Suspended);
    becomes_due_after(&world, id, SECOND).await;
    assert_eq!(world.state(id).await, PublicState::Cancelled);
}

#[tokio::test]
async fn a_pending_waitpoint_closes() {
    let world = World::new();
    let (id, fence) = leased(&world, Policy::default()).await;
    let waitpoint_id = WaitpointId::from_uuid(world.mint());
    let command = CreatePendingWaitpoint {
        fence: Some(fence),
        waitpoint_key: "key".parse().unwrap(),
        expires_in: SECOND,
        request_id: None,
        waitpoint_id: None,
    };
    world
        .decide(id, |it, context| {
            waitpoint::create_pending(it, &command, waitpoint_id, context)
        })
        .await;
    becomes_due_after(&world, id, SECOND).await;
    let key = RecordKey::Waitpoint(id, waitpoint_id);
    let load = ff_backend::load::Load::records(id.partition(), [key.clone()]);
    let snapshot = ff_backend::Backend::load(&*world.store.memory, vec![load])
        .await
        .unwrap()
        .remove(0);
    assert_eq!(snapshot.waitpoint(&key).unwrap().usage, WaitpointUse::NeverCommitted);
}

#[tokio::test]
async fn a_request_to_stop_becomes_a_cancellation() {
    let world = World::new();
    let (id, fence) = leased(&world, Policy::default()).await;
    let stop = Stop {
        budget_id: BudgetId::from_uuid(world.mint()),
        generation: 1,
        reason: "enough".to_owned(),
    };
    world
        .decide(id, |it, context| lease::request_stop(it, &stop, context))
        .await;
    world.pass(Duration::from_secs(29));
    let renew = Renew {
        fence: Some(fence),
        ttl: None,
        doing: Vec::new(),
    };
    world.decide(id, |it, context| lease::renew(it, &renew, context)).await;
    becomes_due_after(&world, id, SECOND).await;
    assert_eq!(world.state(id).await, PublicState::Cancelled);
}

#[tokio::test]
async fn an_execution_nobody_needs_is_deleted() {
    let world = World::new();
    let policy = Policy {
        retention: Some(Retention::For(Duration::from_secs(60))),
        ..Policy::default()
    };
    let (id, fence) = leased(&world, policy).await;
    let complete = Complete {
        fence: Some(fence),
        result: None,
        ..Complete::default()
    };
    world
        .decide(id, |it, context| lease::complete(it, &complete, context))
        .await;
    becomes_due_after(&world, id, Duration::from_secs(60)).await;
    assert_eq!(world.find(id).await, None);
}

#[tokio::test]
async fn a_timer_costs_one_reading_and_one_commit() {
    let world = World::new();
    let until = world.now() + SECOND;
    world.submit(|command| command.delay_until = Some(until)).await;
    world.pass(SECOND);
    world.store.take_calls();
    assert_eq!(world.engine.pump_pass().await.unwrap(), 1);
    let calls = world.store.take_calls();
    assert_eq!(calls, [("commit", 1), ("due", 1), ("load", 1)].into());
}
