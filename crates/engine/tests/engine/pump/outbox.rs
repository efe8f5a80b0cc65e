//! Effects on other partitions.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use super::support::{World, tokens, under_quota};
use ff_backend::limits;
use ff_core::command::lease::{Complete, ReportUsage};
use ff_core::command::operator::RevokeLease;
use ff_core::command::page::PageRequest;
use ff_core::fabric::{Fabric, On};
use ff_core::id::{BudgetId, ExecutionId, QuotaPolicyId};
use ff_core::machine::budget::UsageReport;
use ff_core::machine::quota::Admit;
use ff_core::machine::{lease, operator};
use ff_core::name::IdempotencyKey;
use ff_core::policy::Policy;
use ff_core::record::Cause;
use ff_core::record::{Fence, UsageIdentity};
use ff_core::time::Duration;

async fn report(world: &World, id: ExecutionId, fence: Fence, budget_id: BudgetId) {
    let command = ReportUsage {
        fence: Some(fence),
        budget_id,
        deltas: BTreeMap::from([(tokens(), 3)]),
        dedup_key: None,
        request_id: None,
    };
    world.report_usage(id, &command).await;
}

async fn admit(world: &World, quota_policy_id: QuotaPolicyId, id: ExecutionId) {
    let grant_id = world.execution(id).await.lease().unwrap().grant.unwrap();
    let ask = Admit {
        grant_id,
        execution_id: id,
        attempt_index: 0,
        continues: false,
        dice: 0,
    };
    world.admit(quota_policy_id, &ask).await;
}

async fn in_use(world: &World, quota_policy_id: QuotaPolicyId) -> u64 {
    let view = limits::quotas::find(&world.direct(), quota_policy_id).await.unwrap();
    view.unwrap().in_use
}

#[tokio::test]
async fn usage_arrives_once_although_the_reply_is_lost() {
    let world = World::new();
    let budget_id = world.budget(|_| ()).await;
    let id = world.submit(|_| ()).await;
    let fence = world.lease(id).await;
    report(&world, id, fence, budget_id).await;
    report(&world, id, fence, budget_id).await;
    world.store.lose.store(1, Ordering::SeqCst);
    world.pump().await;
    assert_eq!(
        world.execution(id).await.outbox.len(),
        2,
        "nobody knows that it arrived"
    );
    world.pass(Duration::from_secs(1));
    world.pump().await;
    assert!(world.execution(id).await.outbox.is_empty());
    assert_eq!(world.spent(budget_id).await, 6);
    assert!(
        world.engine.poisoned().is_empty(),
        "a lost reply is not the record's fault"
    );
}

#[tokio::test]
async fn usage_the_budget_knew_is_taken_off_an_attempt_that_has_ended() {
    let world = World::new();
    let budget_id = world.budget(|_| ()).await;
    let key = IdempotencyKey::parse("call-1").unwrap();
    let known = UsageReport::new(BTreeMap::from([(tokens(), 3)])).identified_by(UsageIdentity::Key(key.clone()));
    let report = known.clone();
    world.report(budget_id, report).await;
    let id = world.submit(|_| ()).await;
    let command = ReportUsage {
        fence: Some(world.lease(id).await),
        budget_id,
        deltas: known.deltas,
        dedup_key: Some(key),
        request_id: None,
    };
    world.report_usage(id, &command).await;
    let revoke = RevokeLease {
        reason: None,
        expected_lease_epoch: None,
        request_id: None,
    };
    world
        .decide(id, |it, context| operator::revoke_lease(it, &revoke, context))
        .await;
    world.lease(id).await;
    world.pump().await;
    let page = On::new(id, PageRequest::default());
    let attempts = world.engine.list_attempts(page).await.unwrap().items;
    let usage: Vec<_> = attempts.iter().map(|attempt| attempt.usage.get(&budget_id)).collect();
    assert_eq!(usage, [Some(&BTreeMap::from([(tokens(), 0)])), None]);
    assert_eq!(world.spent(budget_id).await, 3);
}

#[tokio::test]
async fn a_slot_is_given_back_when_its_lease_ends() {
    let world = World::new();
    let quota = world.quota(|command| command.max_concurrent = Some(1)).await;
    let id = world.submit_with(under_quota(quota)).await;
    let fence = world.lease(id).await;
    admit(&world, quota, id).await;
    assert_eq!(in_use(&world, quota).await, 1);
    let complete = Complete {
        fence: Some(fence),
        result: None,
        ..Complete::default()
    };
    world
        .decide(id, |it, context| lease::complete(it, &complete, context))
        .await;
    world.pump().await;
    assert_eq!(in_use(&world, quota).await, 0);
    assert!(world.execution(id).await.outbox.is_empty());
}

#[tokio::test]
async fn an_effect_its_receiver_refuses_is_dropped_and_keeps_no_other_from_leaving() {
    let world = World::new();
    let budget_id = world.budget(|_| ()).await;
    let id = world.submit_with(Policy::default()).await;
    let fence = world.lease(id).await;
    report(&world, id, fence, BudgetId::from_uuid(world.mint())).await;
    report(&world, id, fence, budget_id).await;
    world.pump().await;
    assert!(world.execution(id).await.outbox.is_empty());
    assert_eq!(world.spent(budget_id).await, 3);
}

#[tokio::test]
async fn a_slot_nobody_holds_is_freed_by_the_check() {
    let world = World::new();
    let quota = world.quota(|command| command.max_concurrent = Some(2)).await;
    let holder = world.submit_with(under_quota(quota)).await;
    let fence = world.lease(holder).await;
    admit(&world, quota, holder).await;
    let ask = Admit {
        grant_id: ff_core::id::GrantId::from_uuid(world.mint()),
        execution_id: world.submit(|_| ()).await,
        attempt_index: 0,
        continues: false,
        dice: 0,
    };
    let quota_policy_id = quota;
    world.admit(quota_policy_id, &ask).await;
    assert_eq!(in_use(&world, quota).await, 2);
    // The engine meets the quota when it is asked to release for it.
    let renew = ff_core::command::lease::Renew {
        fence: Some(fence),
        ttl: Some(Duration::from_hours(1)),
        doing: Vec::new(),
    };
    world
        .decide(holder, |it, context| lease::renew(it, &renew, context))
        .await;
    world.mark(Cause::Quota(quota), holder.partition(), false).await;
    let more = ff_core::command::quota::UpdateQuotaPolicy {
        max_concurrent: ff_core::command::quota::LimitChange::Set(3),
        ..Default::default()
    };
    limits::quotas::update(&world.direct(), quota, &more).await.unwrap();
    world.pump().await;
    world.pass(Duration::from_secs(60));
    world.engine.pump_sweep().await.unwrap();
    world.pump().await;
    assert_eq!(in_use(&world, quota).await, 1);
}
