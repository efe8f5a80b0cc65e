//! Quota policies: how many may start, and how many may run.

use std::collections::BTreeSet;
use std::sync::Arc;

use ff_core::command::budget::{Deleted, Updated};
use ff_core::command::page::{ListOf, PageRequest};
use ff_core::command::quota::{CreateQuotaPolicy, LimitChange, QuotaCreated, UpdateQuotaPolicy};
use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::id::QuotaPolicyId;
use ff_core::state::{BlockingReason, EligibilityState, PublicState};
use ff_core::time::Duration;

use crate::Harness;
use crate::scene::{
    HOUR, MINUTE, SECOND, Scene, WORKER, at_once, claim, first, fresh, limited, list, other_namespace, quota_of,
    refused, retrying, signal, waiting,
};

pub(crate) async fn a_quota_policy_is_created_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = QuotaPolicyId::from_uuid(fresh());
    let create = |cap| CreateQuotaPolicy {
        quota_policy_id: Some(id),
        ..quota_of(None, Some(cap))
    };
    let first = scene.fabric.create_quota_policy(create(1)).await.unwrap();
    assert_eq!((first.quota_policy_id, first.created), (id, QuotaCreated::Created));
    let again = scene.fabric.create_quota_policy(create(1)).await.unwrap();
    assert_eq!(again.created, QuotaCreated::Exists);
    let other = scene.fabric.create_quota_policy(create(2)).await;
    assert_eq!(refused(other), Code::AlreadyExists);
}

pub(crate) async fn a_quota_policy_must_make_sense(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let hasty = CreateQuotaPolicy {
        window: Duration::from_millis(999),
        ..quota_of(Some(1), None)
    };
    for wrong in [hasty, quota_of(Some(1 << 53), None)] {
        let answer = scene.fabric.create_quota_policy(wrong).await;
        assert_eq!(refused(answer), Code::InvalidInput);
    }
}

pub(crate) async fn an_unknown_quota_policy_is_not_found(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (id, fabric) = (QuotaPolicyId::from_uuid(fresh()), &scene.fabric);
    let answers = [
        refused(fabric.get_quota_policy(id).await),
        refused(fabric.delete_quota_policy(id).await),
        refused(
            fabric
                .update_quota_policy(On::new(id, UpdateQuotaPolicy::default()))
                .await,
        ),
    ];
    assert_eq!(answers, [Code::QuotaPolicyNotFound; 3]);
}

pub(crate) async fn what_is_taken_is_shown(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let quota = scene.quota(Some(5), Some(3)).await;
    let task = scene.running(limited(quota)).await;
    scene.running(limited(quota)).await;
    let view = scene.fabric.get_quota_policy(quota).await.unwrap();
    assert_eq!((view.in_use, view.requests_in_window), (2, 2));
    scene.finish(&task).await;
    let view = scene.fabric.get_quota_policy(quota).await.unwrap();
    assert_eq!((view.in_use, view.requests_in_window), (1, 2));
    scene.after(MINUTE).await;
    assert_eq!(
        scene.fabric.get_quota_policy(quota).await.unwrap().requests_in_window,
        0
    );
}

pub(crate) async fn a_full_cap_blocks_and_says_so(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let quota = scene.quota(None, Some(1)).await;
    scene.held(limited(quota)).await;
    let id = scene.submit(limited(quota)).await;
    assert!(scene.try_claim(WORKER).await.is_none());
    let vector = scene.vector(id).await;
    assert_eq!(vector.eligibility_state, EligibilityState::BlockedByQuota);
    assert_eq!(vector.blocking_reason, BlockingReason::WaitingForQuota);
    let detail = scene.detail(id).await;
    assert!(
        detail.contains(&quota.to_string()) && detail.contains("1/1"),
        "{detail}"
    );
}

pub(crate) async fn a_full_quota_blocks_its_own_work_only(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let quota = scene.quota(Some(0), None).await;
    scene
        .submit(CreateExecution {
            priority: 9,
            ..limited(quota)
        })
        .await;
    let free = scene.submit_plain().await;
    assert_eq!(scene.claim(WORKER).await.execution_id, free);
    assert!(scene.try_claim(WORKER).await.is_none(), "none is admitted");
}

pub(crate) async fn a_full_quota_says_since_when_and_how_many_wait(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let quota = scene.quota(None, Some(1)).await;
    let shown = async || scene.fabric.get_quota_policy(quota).await.unwrap();
    let task = scene.held(limited(quota)).await;
    let view = shown().await;
    assert_eq!(
        (view.waiting.n, view.refused_last_minute, view.closed_since),
        (0, 0, None)
    );
    let now = scene.now().await;
    for _ in 0..2 {
        scene.submit(limited(quota)).await;
    }
    assert!(scene.try_claim(WORKER).await.is_none());
    let view = shown().await;
    assert!(view.waiting.n >= 1 && view.refused_last_minute >= 1, "{view:?}");
    let closed_at = view.closed_since.expect("it refuses");
    assert!(
        (now..=scene.now().await).contains(&closed_at),
        "{closed_at} is not {now}"
    );
    let listed = scene.fabric.list_quota_policies(list()).await.unwrap().items;
    assert_eq!(listed[0].waiting, view.waiting);
    scene.complete(&task).await.unwrap();
    scene.settle().await;
    scene.claim(WORKER).await;
    assert_eq!(shown().await.closed_since, None);
    scene.after(HOUR).await;
    assert_eq!(shown().await.refused_last_minute, 0);
}

pub(crate) async fn a_slot_is_freed_however_the_lease_ends(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let quota = scene.quota(None, Some(1)).await;
    let task = scene.running(limited(quota)).await;
    scene.fail(&task, "permanent").await.unwrap();
    assert_eq!(in_use(&scene, quota).await, 0);
    let task = scene.running(limited(quota)).await;
    scene.cancel(task.execution_id).await.unwrap();
    assert_eq!(in_use(&scene, quota).await, 0);
    let task = scene.running(limited(quota)).await;
    scene.suspended(&task, waiting(&task)).await;
    assert_eq!(in_use(&scene, quota).await, 0);
    let task = scene.running(limited(quota)).await;
    scene.release(&task).await.unwrap();
    assert_eq!(in_use(&scene, quota).await, 0);
    scene.claim(WORKER).await;
    assert_eq!(in_use(&scene, quota).await, 1);
    scene.after(Duration::from_secs(10)).await;
    assert_eq!(in_use(&scene, quota).await, 0, "the lease expired");
}

async fn in_use(scene: &Scene<'_>, quota: QuotaPolicyId) -> u64 {
    scene.settle().await;
    scene.fabric.get_quota_policy(quota).await.unwrap().in_use
}

pub(crate) async fn a_slot_belongs_to_the_grant_before_the_lease(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let quota = scene.quota(None, Some(1)).await;
    let first = scene.submit(limited(quota)).await;
    scene.after(SECOND).await;
    scene.submit(limited(quota)).await;
    let grant = scene.grant(WORKER).await.unwrap();
    assert_eq!(grant.execution_id, first);
    assert!(scene.try_claim(WORKER).await.is_none());
    scene.after(Duration::from_secs(5)).await;
    assert_eq!(in_use(&scene, quota).await, 0, "it lapsed");
    assert_eq!(scene.claim(WORKER).await.execution_id, first);
}

pub(crate) async fn an_attempt_takes_one_place_however_often_it_goes_on(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let quota = scene.quota(Some(1), None).await;
    let task = scene.running(limited(quota)).await;
    scene.release(&task).await.unwrap();
    scene.settle().await;
    let again = scene.claim(WORKER).await;
    let waitpoint = scene.suspended(&again, waiting(&again)).await.remove(0);
    scene.send(again.execution_id, &waitpoint, signal("go")).await.unwrap();
    scene.settle().await;
    assert_eq!(scene.claim(WORKER).await.fence.attempt_id, task.fence.attempt_id);
    let view = scene.fabric.get_quota_policy(quota).await.unwrap();
    assert_eq!(view.requests_in_window, 1);
}

pub(crate) async fn another_attempt_takes_another_place(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let quota = scene.quota(Some(1), None).await;
    let mut command = retrying(1);
    command.policy.quota_policy_id = Some(quota);
    let task = scene.running(command).await;
    scene.fail(&task, "transient").await.unwrap();
    assert!(scene.try_claim(WORKER).await.is_none());
    assert_eq!(scene.state(task.execution_id).await, PublicState::RateLimited);
    assert!(scene.detail(task.execution_id).await.contains("rate"));
    scene.after(MINUTE).await;
    assert_eq!(scene.claim(WORKER).await.attempt_index, 1);
}

pub(crate) async fn a_higher_limit_releases_what_waits(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let quota = scene.quota(None, Some(1)).await;
    scene.held(limited(quota)).await;
    let id = scene.submit(limited(quota)).await;
    assert!(scene.try_claim(WORKER).await.is_none());
    let raise = UpdateQuotaPolicy {
        max_concurrent: LimitChange::Set(2),
        ..UpdateQuotaPolicy::default()
    };
    let raise = On::new(quota, raise);
    assert_eq!(
        scene.fabric.update_quota_policy(raise.clone()).await.unwrap(),
        Updated::Now
    );
    assert_eq!(
        scene.fabric.update_quota_policy(raise).await.unwrap(),
        Updated::Unchanged
    );
    scene.settle().await;
    assert_eq!(scene.claim(WORKER).await.execution_id, id);
}

pub(crate) async fn a_deleted_quota_policy_limits_nothing(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let quota = scene.quota(Some(0), None).await;
    let id = scene.submit(limited(quota)).await;
    assert!(scene.try_claim(WORKER).await.is_none());
    assert_eq!(scene.fabric.delete_quota_policy(quota).await.unwrap(), Deleted::Now);
    assert_eq!(scene.fabric.delete_quota_policy(quota).await.unwrap(), Deleted::Already);
    scene.settle().await;
    assert_eq!(scene.claim(WORKER).await.execution_id, id);
    assert_eq!(
        refused(scene.fabric.get_quota_policy(quota).await),
        Code::QuotaPolicyNotFound
    );
    scene.after(Duration::from_secs(2)).await;
    let answer = scene.fabric.create_execution(limited(quota)).await;
    assert_eq!(refused(answer), Code::QuotaPolicyNotFound);
}

pub(crate) async fn quota_policies_are_listed_by_namespace_in_pages(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let mut ids = BTreeSet::new();
    for _ in 0..3 {
        ids.insert(scene.quota(None, None).await);
    }
    let foreign = CreateQuotaPolicy {
        namespace: other_namespace(),
        ..quota_of(None, None)
    };
    scene.fabric.create_quota_policy(foreign).await.unwrap();
    let (mut seen, mut page) = (Vec::new(), first(2));
    loop {
        let request = ListOf { page, ..list() };
        let policies = scene.fabric.list_quota_policies(request).await.unwrap();
        seen.extend(policies.items.iter().map(|view| view.quota_policy_id));
        let Some(cursor) = policies.next else { break };
        page = PageRequest {
            cursor: Some(cursor),
            limit: Some(2),
        };
    }
    assert_eq!(seen.len(), 3);
    assert_eq!(BTreeSet::from_iter(seen), ids);
}

pub(crate) async fn claims_at_once_do_not_pass_the_cap(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let quota = scene.quota(None, Some(3)).await;
    scene.fabric.create_executions(vec![limited(quota); 12]).await.unwrap();
    let workers = (0..6).map(|n| {
        let fabric = Arc::clone(&scene.fabric);
        async move { fabric.claim(claim(&format!("worker-{n}"))).await.unwrap() }
    });
    assert_eq!(at_once(workers).await.concat().len(), 3);
}
