//! Grants: short permits to take one lease, by the queue or by an operator.

use ff_core::capability::CapabilitySet;
use ff_core::command::claim::{IssuedGrant, RedeemGrant};
use ff_core::command::lease::Completed;
use ff_core::command::operator::{ChangePriority, IssueReclaimGrant};
use ff_core::command::submit::LaneState;
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::name::WorkerId;
use ff_core::record::AttemptKind;
use ff_core::state::{OwnershipState, PublicState};
use ff_core::time::Duration;
use ff_core::token::SignedGrant;

use crate::Harness;
use crate::scene::{HOUR, MINUTE, Scene, WORKER, claim, instance, limited, refused, requiring, submission};

pub(crate) async fn a_grant_becomes_a_lease_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    let grant = scene.grant(WORKER).await.unwrap();
    assert_eq!(grant.execution_id, id);
    let task = scene.redeem(WORKER, &grant).await.unwrap();
    let again = scene.redeem(WORKER, &grant).await.unwrap();
    assert_eq!(again.fence, task.fence, "the same task again");
    scene.complete(&task).await.unwrap();
    assert_eq!(refused(scene.redeem(WORKER, &grant).await), Code::InvalidClaimGrant);
}

pub(crate) async fn a_redeemed_lease_runs_its_whole_time(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.submit_plain().await;
    let grant = scene.grant(WORKER).await.unwrap();
    let task = scene.redeem(WORKER, &grant).await.unwrap();
    scene.after(Duration::from_secs(20)).await;
    assert_eq!(scene.complete(&task).await.unwrap(), Completed::Now);
}

pub(crate) async fn there_is_no_grant_without_work(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    assert!(scene.grant(WORKER).await.is_none());
    let id = scene.submit_plain().await;
    scene.hold(id).await.unwrap();
    assert!(scene.grant(WORKER).await.is_none());
}

pub(crate) async fn a_granted_execution_shows_to_whom(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    let grant = scene.grant(WORKER).await.unwrap();
    let view = scene.view(id).await;
    let shown = view.grant.unwrap();
    assert_eq!((shown.worker.as_str(), shown.expires_at), (WORKER, grant.expires_at));
    assert_eq!(view.state.public_state, PublicState::Waiting);
    assert_eq!(view.state.state_vector.ownership_state, OwnershipState::Unowned);
    assert!(scene.try_claim("other").await.is_none(), "it is in no queue");
}

pub(crate) async fn a_grant_is_worth_nothing_in_other_hands(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.submit_plain().await;
    let grant = scene.grant(WORKER).await.unwrap();
    assert_eq!(refused(scene.redeem("thief", &grant).await), Code::InvalidClaimGrant);
    let other_slot = RedeemGrant {
        grant: grant.grant.clone(),
        worker: WorkerId::parse(WORKER).unwrap(),
        instance: instance("thief"),
        lease_ttl: None,
    };
    assert_eq!(
        refused(scene.fabric.claim_from_grant(other_slot).await),
        Code::InvalidClaimGrant
    );
    assert!(scene.redeem(WORKER, &grant).await.is_ok());
}

pub(crate) async fn a_forged_grant_is_refused(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.submit_plain().await;
    let genuine = scene.grant(WORKER).await.unwrap();
    let cut = &genuine.grant.expose()[1..];
    for text in ["", "nonsense", cut] {
        let forged = IssuedGrant {
            grant: SignedGrant::from_text(text),
            ..genuine.clone()
        };
        assert_eq!(refused(scene.redeem(WORKER, &forged).await), Code::InvalidClaimGrant);
    }
}

pub(crate) async fn a_grant_that_is_too_old_has_expired(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.submit_plain().await;
    let grant = scene.grant(WORKER).await.unwrap();
    scene.after(Duration::from_secs(5)).await;
    assert_eq!(refused(scene.redeem(WORKER, &grant).await), Code::ClaimGrantExpired);
}

pub(crate) async fn a_grant_lasts_1_ms_to_60_s(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.submit_plain().await;
    for ttl in [Duration::ZERO, Duration::from_secs(61)] {
        let answer = scene.try_grant(WORKER, Some(ttl)).await;
        assert_eq!(refused(answer), Code::InvalidInput);
    }
    let grant = scene.try_grant(WORKER, Some(MINUTE)).await.unwrap().unwrap();
    scene.after(Duration::from_secs(50)).await;
    assert!(scene.redeem(WORKER, &grant).await.is_ok());
}

pub(crate) async fn a_hold_and_a_cancellation_drop_the_grant(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let held = scene.submit_plain().await;
    let grant = scene.grant(WORKER).await.unwrap();
    scene.hold(held).await.unwrap();
    assert_eq!(refused(scene.redeem(WORKER, &grant).await), Code::InvalidClaimGrant);
    let cancelled = scene.submit_plain().await;
    let grant = scene.grant(WORKER).await.unwrap();
    assert_eq!(grant.execution_id, cancelled);
    scene.cancel(cancelled).await.unwrap();
    assert_eq!(refused(scene.redeem(WORKER, &grant).await), Code::InvalidClaimGrant);
}

pub(crate) async fn a_new_dependency_drops_the_grant(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let child = scene.join(flow, &[]).await;
    let grant = scene.grant(WORKER).await.unwrap();
    assert_eq!(grant.execution_id, child);
    let parent = scene.join(flow, &[]).await;
    scene.depend(flow, parent, child).await.unwrap();
    assert_eq!(refused(scene.redeem(WORKER, &grant).await), Code::InvalidClaimGrant);
}

pub(crate) async fn a_priority_and_a_paused_lane_do_not_touch_a_grant(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    let grant = scene.try_grant(WORKER, Some(MINUTE)).await.unwrap().unwrap();
    let raise = ChangePriority { priority: 5 };
    scene.fabric.change_priority(On::new(id, raise)).await.unwrap();
    scene.set_lane("default", LaneState::Paused).await;
    assert!(scene.redeem(WORKER, &grant).await.is_ok());
}

pub(crate) async fn an_operator_hands_a_lost_execution_to_a_worker(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.held(submission()).await;
    scene.revoke(task.execution_id).await.unwrap();
    let grant = reclaim(&scene, task.execution_id, &[]).await.unwrap();
    assert!(scene.try_claim("other").await.is_none(), "it is promised");
    let taken = scene.redeem("heir", &grant).await.unwrap();
    assert_eq!((taken.attempt_index, taken.attempt_kind), (1, AttemptKind::Reclaim));
    assert!(taken.fence.lease_epoch > task.fence.lease_epoch);
}

pub(crate) async fn an_expired_lease_can_be_handed_to_a_worker(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.held(submission()).await;
    scene.after(HOUR).await;
    let grant = reclaim(&scene, task.execution_id, &[]).await.unwrap();
    let taken = scene.redeem("heir", &grant).await.unwrap();
    assert_eq!(taken.execution_id, task.execution_id);
    assert_eq!(refused(scene.complete(&task).await), Code::LeaseExpired);
}

pub(crate) async fn only_a_lost_execution_can_be_reclaimed(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.held(submission()).await;
    let waiting = scene.submit_plain().await;
    for id in [task.execution_id, waiting] {
        let answer = reclaim(&scene, id, &[]).await;
        assert_eq!(refused(answer), Code::ExecutionNotReclaimable);
    }
    scene.complete(&task).await.unwrap();
    let answer = reclaim(&scene, task.execution_id, &[]).await;
    assert_eq!(refused(answer), Code::ExecutionNotReclaimable);
}

pub(crate) async fn a_held_execution_is_not_handed_over(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.held(submission()).await;
    scene.revoke(task.execution_id).await.unwrap();
    scene.hold(task.execution_id).await.unwrap();
    let answer = reclaim(&scene, task.execution_id, &[]).await;
    assert_eq!(refused(answer), Code::ExecutionNotEligible);
}

pub(crate) async fn an_heir_needs_the_capabilities(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit(requiring(&["gpu"])).await;
    let mut able = claim("able");
    able.want.capabilities = CapabilitySet::parse(["gpu"]).unwrap();
    let task = scene.fabric.claim(able).await.unwrap().remove(0);
    scene.keep(&task).await;
    scene.revoke(id).await.unwrap();
    assert_eq!(refused(reclaim(&scene, id, &["ssd"]).await), Code::CapabilityMismatch);
    assert!(reclaim(&scene, id, &["gpu"]).await.is_ok());
}

pub(crate) async fn a_repeated_reclaim_is_answered_with_the_same_grant(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let quota = scene.quota(None, Some(1)).await;
    for submission in [submission(), limited(quota)] {
        let task = scene.held(submission).await;
        let id = task.execution_id;
        scene.revoke(id).await.unwrap();
        scene.settle().await;
        let first = reclaim(&scene, id, &[]).await.unwrap();
        let again = reclaim(&scene, id, &[]).await.unwrap();
        assert_eq!(again.expires_at, first.expires_at);
        let other = scene.fabric.issue_reclaim_grant(On::new(id, heir("other"))).await;
        assert_eq!(refused(other), Code::ExecutionNotReclaimable);
        let task = scene.redeem("heir", &first).await.unwrap();
        let repeated = scene.redeem("heir", &again).await.unwrap();
        assert_eq!(repeated.fence, task.fence);
    }
}

pub(crate) async fn a_reclaim_grant_nobody_used_lapses(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.held(submission()).await;
    scene.revoke(task.execution_id).await.unwrap();
    let grant = reclaim(&scene, task.execution_id, &[]).await.unwrap();
    scene.after(MINUTE).await;
    assert_eq!(refused(scene.redeem("heir", &grant).await), Code::ClaimGrantExpired);
    assert_eq!(scene.claim("other").await.execution_id, task.execution_id);
}

async fn reclaim(scene: &Scene<'_>, id: ExecutionId, offered: &[&str]) -> Result<IssuedGrant> {
    let command = IssueReclaimGrant {
        capabilities: CapabilitySet::parse(offered).unwrap(),
        ..heir("heir")
    };
    scene.fabric.issue_reclaim_grant(On::new(id, command)).await
}

fn heir(worker: &str) -> IssueReclaimGrant {
    IssueReclaimGrant {
        worker: WorkerId::parse(worker).unwrap(),
        instance: instance(worker),
        capabilities: CapabilitySet::default(),
        grant_ttl: None,
    }
}
