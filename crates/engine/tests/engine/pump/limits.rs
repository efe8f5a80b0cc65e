//! Budgets and quotas: what waits goes on, what runs stops, what is queued under a closed budget moves.

use super::support::{World, tokens, under_budget, under_quota};
use ff_backend::limits;
use ff_core::command::lease::ReportUsage;
use ff_core::id::{BudgetId, ExecutionId, GrantId, QuotaPolicyId};
use ff_core::machine::claim::{self, Refusal};
use ff_core::machine::lease;
use ff_core::machine::quota::Admit;
use ff_core::record::{Cause, OnHardLimit};
use ff_core::state::PublicState;
use ff_core::time::Duration;

async fn block(world: &World, id: ExecutionId, cause: Cause) {
    world.mark(cause, id.partition(), false).await;
    block_unmarked(world, id, cause).await;
}

async fn block_unmarked(world: &World, id: ExecutionId, cause: Cause) {
    let refusal = Refusal {
        cause,
        detail: "full".to_owned(),
        generation: 1,
    };
    let blocked = world
        .decide(id, |it, context| claim::block_queued(it, &refusal, context))
        .await;
    assert!(blocked);
}

async fn blocked_by_budget(world: &World, budget_id: BudgetId, count: usize) -> Vec<ExecutionId> {
    let mut ids = Vec::new();
    for _ in 0..count {
        let id = world.submit_with(under_budget(budget_id)).await;
        block(world, id, Cause::Budget(budget_id)).await;
        ids.push(id);
    }
    ids
}

async fn blocked_by_quota(world: &World, quota: QuotaPolicyId, count: usize) -> Vec<ExecutionId> {
    let mut ids = Vec::new();
    for _ in 0..count {
        let id = world.submit_with(under_quota(quota)).await;
        block(world, id, Cause::Quota(quota)).await;
        ids.push(id);
    }
    ids
}

async fn waiting(world: &World, ids: &[ExecutionId]) -> usize {
    let mut waiting = 0;
    for id in ids {
        waiting += usize::from(world.state(*id).await == PublicState::Waiting);
    }
    waiting
}

#[tokio::test]
async fn a_reset_releases_five_thousand_with_few_calls() {
    let world = World::new();
    let budget_id = world.budget(|_| ()).await;
    world.spend(budget_id, 10).await;
    let ids = blocked_by_budget(&world, budget_id, 5_000).await;
    world.pump().await;
    assert_eq!(waiting(&world, &ids).await, 0);
    world.reset(budget_id).await;
    world.store.take_calls();
    world.pump().await;
    let calls = world.store.take_calls();
    assert_eq!(waiting(&world, &ids).await, 5_000);
    let chunks = 5_000_u64.div_ceil(64);
    let count: u64 = calls.values().sum();
    assert!(count <= 5 * chunks, "{calls:?} for {chunks} chunks");
    // Everything was forgotten: the budget is not due any more.
    world.store.take_calls();
    world.pump().await;
    assert_eq!(world.store.take_calls(), [("due", 1)].into());
}

#[tokio::test]
async fn a_periodic_reset_comes_by_itself() {
    let world = World::new();
    let budget_id = world
        .budget(|command| command.reset_interval = Some(Duration::from_secs(60)))
        .await;
    world.spend(budget_id, 10).await;
    let ids = blocked_by_budget(&world, budget_id, 3).await;
    world.pass(Duration::from_secs(59));
    world.pump().await;
    assert_eq!(waiting(&world, &ids).await, 0);
    world.pass(Duration::from_secs(1));
    world.pump().await;
    assert_eq!(waiting(&world, &ids).await, 3);
    assert_eq!(world.spent(budget_id).await, 0);
}

#[tokio::test]
async fn a_moved_window_releases_as_many_as_fit_best_first() {
    let world = World::new();
    let quota = world.quota(|command| command.max_requests_per_window = Some(2)).await;
    for _ in 0..2 {
        let ask = Admit {
            grant_id: GrantId::from_uuid(world.mint()),
            execution_id: world.submit(|_| ()).await,
            attempt_index: 0,
            continues: false,
            dice: 0,
        };
        world.admit(quota, &ask).await;
    }
    let ids = blocked_by_quota(&world, quota, 200).await;
    world.pass(Duration::from_secs(59));
    world.pump().await;
    assert_eq!(waiting(&world, &ids).await, 0);
    world.pass(Duration::from_secs(1));
    world.store.take_calls();
    world.pump().await;
    assert!(
        world.store.take_count() <= 12,
        "a release looks no further than it has room for"
    );
    assert_eq!(waiting(&world, &ids[..2]).await, 2, "the oldest go first");
    assert_eq!(waiting(&world, &ids).await, 2);
}

#[tokio::test]
async fn work_that_has_its_place_already_goes_on_although_the_window_is_full() {
    let world = World::new();
    let quota_policy_id = world.quota(|command| command.max_requests_per_window = Some(1)).await;
    let continuing = world.submit_with(under_quota(quota_policy_id)).await;
    let fence = world.lease(continuing).await;
    let release = ff_core::command::lease::Release {
        fence: Some(fence),
        ..Default::default()
    };
    let given_back = world.decide(continuing, |it, context| lease::release(it, &release, context));
    given_back.await;
    let ask = Admit {
        grant_id: GrantId::from_uuid(world.mint()),
        execution_id: continuing,
        attempt_index: 0,
        continues: false,
        dice: 0,
    };
    world.admit(quota_policy_id, &ask).await;
    world.submit(|_| ()).await;
    // Better ones that need a place are in front of it.
    let mut ids = Vec::new();
    for _ in 0..400 {
        let submission = world.submit(|command| {
            command.policy = under_quota(quota_policy_id);
            command.priority = 9;
        });
        let id = submission.await;
        block(&world, id, Cause::Quota(quota_policy_id)).await;
        ids.push(id);
    }
    world
        .mark(Cause::Quota(quota_policy_id), continuing.partition(), true)
        .await;
    block_unmarked(&world, continuing, Cause::Quota(quota_policy_id)).await;
    world.pass(Duration::from_secs(1));
    world.pump().await;
    assert_eq!(world.state(continuing).await, PublicState::Waiting);
    assert_eq!(waiting(&world, &ids).await, 0);
    world.store.take_calls();
    world.pump().await;
    assert_eq!(
        world.store.take_calls(),
        [("due", 1)].into(),
        "nobody looks for more of it"
    );
}

#[tokio::test]
async fn a_freed_slot_releases_one() {
    let world = World::new();
    let quota_policy_id = world.quota(|command| command.max_concurrent = Some(1)).await;
    let grant_id = GrantId::from_uuid(world.mint());
    let ask = Admit {
        grant_id,
        execution_id: world.submit(|_| ()).await,
        attempt_index: 0,
        continues: false,
        dice: 0,
    };
    world.admit(quota_policy_id, &ask).await;
    let ids = blocked_by_quota(&world, quota_policy_id, 3).await;
    world.pump().await;
    assert_eq!(waiting(&world, &ids).await, 0);
    let released = limits::quotas::release(&world.direct(), quota_policy_id, grant_id).await;
    released.unwrap();
    world.pump().await;
    assert_eq!(waiting(&world, &ids).await, 1);
}

#[tokio::test]
async fn a_breach_asks_everything_that_runs_to_stop_and_looks_once_more() {
    let world = World::new();
    let budget_id = world
        .budget(|command| command.on_hard_limit = OnHardLimit::CancelActive)
        .await;
    let mut ids = Vec::new();
    for _ in 0..150 {
        let id = world.submit_with(under_budget(budget_id)).await;
        world.lease(id).await;
        ids.push(id);
    }
    world.spend(budget_id, 11).await;
    world.pump().await;
    for id in &ids {
        assert!(world.execution(*id).await.lease().unwrap().stop().is_some());
    }
    world.store.take_calls();
    world.pump().await;
    assert_eq!(world.store.take_calls(), [("due", 1)].into(), "the sweep is over");
}

/// A worker spends more than the budget has.
async fn breach(world: &World, budget_id: BudgetId) {
    let id = world.submit_with(under_budget(budget_id)).await;
    let fence = world.lease(id).await;
    let command = ReportUsage {
        fence: Some(fence),
        budget_id,
        deltas: [(tokens(), 11)].into(),
        dedup_key: None,
        request_id: None,
    };
    world.report_usage(id, &command).await;
}

#[tokio::test]
async fn work_queued_under_a_closed_budget_is_moved_and_comes_back() {
    let world = World::new();
    let budget_id = world.budget(|_| ()).await;
    breach(&world, budget_id).await;
    let mut ids = Vec::new();
    for _ in 0..300 {
        ids.push(world.submit_with(under_budget(budget_id)).await);
    }
    world.pump().await;
    assert_eq!(waiting(&world, &ids).await, 0);
    world.reset(budget_id).await;
    world.pump().await;
    assert_eq!(waiting(&world, &ids).await, 300);
}

#[tokio::test]
async fn a_budget_that_was_opened_meanwhile_keeps_its_queue() {
    let world = World::new();
    let budget_id = world.budget(|_| ()).await;
    breach(&world, budget_id).await;
    let id = world.submit_with(under_budget(budget_id)).await;
    assert_eq!(world.engine.pump_pass().await.unwrap(), 1);
    world.reset(budget_id).await;
    world.pump().await;
    assert_eq!(world.state(id).await, PublicState::Waiting);
}

#[tokio::test]
async fn the_sweep_finds_blocked_work_its_cause_does_not_know_of() {
    let world = World::new();
    let budget_id = world.budget(|_| ()).await;
    let id = world.submit_with(under_budget(budget_id)).await;
    // The budget admits work, and nobody told it where work waits.
    block_unmarked(&world, id, Cause::Budget(budget_id)).await;
    world.pump().await;
    assert_eq!(world.state(id).await, PublicState::RateLimited);
    world.engine.start();
    world.settle().await;
    // Only a rule can say whether a budget is open that was told of work: somebody looks within a second.
    world.pass(Duration::from_secs(1));
    world.settle().await;
    assert_eq!(world.state(id).await, PublicState::Waiting);
    world.engine.stop().await;
}

#[tokio::test]
async fn the_sweep_writes_nothing_while_nothing_moves() {
    let world = World::new();
    let budget_id = world.budget(|_| ()).await;
    world.spend(budget_id, 10).await;
    blocked_by_budget(&world, budget_id, 10).await;
    world.engine.start();
    world.settle().await;
    world.store.take_calls();
    for _ in 0..10 {
        world.engine.pump_sweep().await.unwrap();
    }
    let calls = world.store.take_calls();
    assert_eq!(
        calls.get("ledger"),
        Some(&10),
        "one reading per cause and sweep: {calls:?}"
    );
    world.engine.stop().await;
}

#[tokio::test]
async fn work_blocked_while_its_budget_opened_is_not_forgotten() {
    let world = World::new();
    let budget_id = world.budget(|_| ()).await;
    world.spend(budget_id, 10).await;
    let id = world.submit_with(under_budget(budget_id)).await;
    // Marked, then a reset and its whole release come in between, then blocked.
    world.mark(Cause::Budget(budget_id), id.partition(), false).await;
    world.reset(budget_id).await;
    world.pump().await;
    block_unmarked(&world, id, Cause::Budget(budget_id)).await;
    world.pump().await;
    assert_eq!(
        world.state(id).await,
        PublicState::RateLimited,
        "this is what must be repaired"
    );
    world.engine.start();
    world.settle().await;
    // Only a rule can say whether a budget is open that was told of work: somebody looks within a second.
    world.pass(Duration::from_secs(1));
    world.settle().await;
    assert_eq!(world.state(id).await, PublicState::Waiting);
    world.engine.stop().await;
}
