//! What a lease holder may do, and what a former one may not.

use std::sync::Arc;

use ff_core::command::claim::Task;
use ff_core::command::flow::WaitChildren;
use ff_core::command::lease::{
    Complete, Completed, DelayUntil, Fail, Failed, LetGo, Release, Renew, ReportUsage, UpdateProgress,
};
use ff_core::command::operator::{RevokeLease, Revoked};
use ff_core::command::steps::ProgressNote;
use ff_core::command::stream::AppendFrame;
use ff_core::command::suspend::Suspend;
use ff_core::command::waitpoint::CreatePendingWaitpoint;
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::id::{AttemptId, LeaseId};
use ff_core::name::Category;
use ff_core::payload::Payload;
use ff_core::record::StepUnderWay;
use ff_core::record::{AttemptKind, Fence};
use ff_core::state::{AttemptState, BlockingReason, OwnershipState, PublicState};
use ff_core::time::{Duration, Timestamp};
use serde_json::json;
use uuid::Uuid;

use crate::Harness;
use crate::scene::{
    HOUR, MINUTE, SECOND, Scene, WORKER, at_once, frame, fresh, key, refused, request, retrying, submission, under,
    usage, waiting, with_policy,
};

pub(crate) async fn a_completed_execution_has_its_result(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    assert_eq!(scene.complete(&task).await.unwrap(), Completed::Now);
    assert_eq!(scene.state(task.execution_id).await, PublicState::Completed);
    let result = scene.result(task.execution_id).await.unwrap();
    assert_eq!(result, Payload::json(&json!({ "done": true })));
}

pub(crate) async fn an_execution_may_complete_without_a_result(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let answer = scene.result(task.execution_id).await;
    assert_eq!(refused(answer), Code::ResultNotAvailable, "it has not ended");
    let complete = Complete {
        fence: Some(task.fence),
        result: None,
        ..Complete::default()
    };
    scene
        .fabric
        .complete(On::new(task.execution_id, complete))
        .await
        .unwrap();
    let answer = scene.result(task.execution_id).await;
    assert_eq!(refused(answer), Code::ResultNotAvailable, "it ended without one");
}

pub(crate) async fn an_operation_repeated_under_one_lease_is_answered_the_same(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.complete(&task).await.unwrap();
    assert_eq!(scene.complete(&task).await.unwrap(), Completed::Already);
    let task = scene.running(retrying(1)).await;
    let failed = scene.fail(&task, "transient").await.unwrap();
    assert!(matches!(failed, Failed::RetryScheduled { .. }));
    assert_eq!(scene.fail(&task, "transient").await.unwrap(), failed);
    let retry = scene.claim(WORKER).await;
    assert_eq!(scene.release(&retry).await.unwrap(), LetGo::Now);
    assert_eq!(scene.release(&retry).await.unwrap(), LetGo::Already);
}

pub(crate) async fn an_old_lease_changes_nothing(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.held(submission()).await;
    scene.after(HOUR).await;
    assert_eq!(refused(scene.complete(&task).await), Code::LeaseExpired);
    let next = scene.claim("other").await;
    assert_eq!(next.execution_id, task.execution_id);
    assert_eq!(refused(scene.complete(&task).await), Code::LeaseExpired);
    assert_eq!(scene.complete(&next).await.unwrap(), Completed::Now);
}

pub(crate) async fn the_lease_before_the_last_is_stale(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let first = scene.running(submission()).await;
    scene.release(&first).await.unwrap();
    let second = scene.claim("second").await;
    assert_eq!(refused(scene.complete(&first).await), Code::ExecutionNotActive);
    scene.release(&second).await.unwrap();
    let third = scene.claim("third").await;
    assert_eq!(refused(scene.complete(&first).await), Code::StaleLease);
    assert_eq!(scene.complete(&third).await.unwrap(), Completed::Now);
}

pub(crate) async fn a_refused_holder_is_told_where_the_execution_stands(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.complete(&task).await.unwrap();
    let refusal = scene.release(&task).await.unwrap_err();
    assert_eq!(refusal.code, Code::ExecutionNotActive);
    assert_eq!(refusal.fields["terminal_outcome"], "success");
    assert_eq!(refusal.fields["lifecycle_phase"], "terminal");
    assert_eq!(refusal.fields["lease_epoch"], task.fence.lease_epoch);
    assert_eq!(refusal.fields["attempt_index"], 0);
}

pub(crate) async fn every_part_of_the_fence_counts(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let own = task.fence;
    let wrong = [
        Fence {
            lease_id: LeaseId::from_uuid(Uuid::new_v4()),
            ..own
        },
        Fence {
            lease_epoch: own.lease_epoch + 1,
            ..own
        },
        Fence {
            attempt_id: AttemptId::from_uuid(fresh()),
            ..own
        },
    ];
    for fence in wrong {
        let forged = Task { fence, ..task.clone() };
        assert_eq!(refused(scene.complete(&forged).await), Code::StaleLease);
    }
    assert_eq!(scene.complete(&task).await.unwrap(), Completed::Now);
}

pub(crate) async fn what_was_never_leased_is_not_active(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let waiting = scene.submit_plain().await;
    let elsewhere = Task {
        execution_id: waiting,
        ..task
    };
    assert_eq!(refused(scene.complete(&elsewhere).await), Code::ExecutionNotActive);
}

pub(crate) async fn every_call_of_a_holder_needs_a_fence(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let (id, fabric, fence) = (task.execution_id, &scene.fabric, None);
    let missing = [
        refused(
            fabric
                .renew(On::new(
                    id,
                    Renew {
                        fence,
                        ..Renew::default()
                    },
                ))
                .await,
        ),
        refused(
            fabric
                .release(On::new(
                    id,
                    Release {
                        fence,
                        ..Release::default()
                    },
                ))
                .await,
        ),
        refused(
            fabric
                .complete(On::new(
                    id,
                    Complete {
                        fence,
                        result: None,
                        ..Complete::default()
                    },
                ))
                .await,
        ),
        refused(
            fabric
                .wait_children(On::new(
                    id,
                    WaitChildren {
                        fence,
                        ..WaitChildren::default()
                    },
                ))
                .await,
        ),
        refused(
            fabric
                .delay(On::new(
                    id,
                    DelayUntil {
                        fence,
                        until: task.now + MINUTE,
                        step: None,
                        steps: Vec::new(),
                    },
                ))
                .await,
        ),
        refused(
            scene
                .suspend(
                    id,
                    Suspend {
                        fence,
                        ..waiting(&task)
                    },
                )
                .await,
        ),
    ];
    assert_eq!(missing, [Code::FenceRequired; 6]);
    assert_eq!(scene.state(id).await, PublicState::Active);
}

pub(crate) async fn every_report_of_a_holder_needs_a_fence(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let task = scene.running(under(budget)).await;
    let (id, fabric, fence) = (task.execution_id, &scene.fabric, None);
    let progress = UpdateProgress {
        fence,
        progress: ProgressNote {
            pct: Some(1),
            message: None,
        },
    };
    let usage = ReportUsage {
        fence,
        ..usage(&task, budget, 1)
    };
    let fail = Fail {
        fence,
        reason: String::new(),
        category: Category::permanent(),
        retry_after: None,
        steps: Vec::new(),
    };
    let pending = CreatePendingWaitpoint {
        fence,
        waitpoint_key: key("early"),
        expires_in: MINUTE,
        request_id: None,
        waitpoint_id: None,
    };
    let missing = [
        refused(fabric.update_progress(On::new(id, progress)).await),
        refused(fabric.report_usage(On::new(id, usage)).await),
        refused(fabric.fail(On::new(id, fail)).await),
        refused(fabric.create_pending_waitpoint(On::new(id, pending)).await),
        refused(
            fabric
                .append_frame(On::new(
                    id,
                    AppendFrame {
                        fence,
                        ..frame(&task, "x")
                    },
                ))
                .await,
        ),
    ];
    assert_eq!(missing, [Code::FenceRequired; 5]);
}

pub(crate) async fn a_renewal_says_what_its_worker_is_doing(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let renew = |steps: &[&str]| {
        let under_way = |step: &&str| StepUnderWay {
            step: (*step).to_owned(),
            started_at: Timestamp::from_millis(7),
        };
        let renew = Renew {
            fence: Some(task.fence),
            doing: steps.iter().map(under_way).collect(),
            ..Renew::default()
        };
        scene.fabric.renew(On::new(task.execution_id, renew))
    };
    renew(&["fetch#0", "llm#4"]).await.unwrap();
    let doing = scene.view(task.execution_id).await.doing;
    assert_eq!(doing[1].step, "llm#4");
    renew(&["llm#5"]).await.unwrap();
    assert_eq!(
        scene.view(task.execution_id).await.doing.len(),
        1,
        "what was said before is over"
    );
    for wrong in [&["a"; 9][..], &[""], &["two\nlines"]] {
        assert_eq!(refused(renew(wrong).await), Code::InvalidInput);
    }
    scene.complete(&task).await.unwrap();
    assert!(
        scene.view(task.execution_id).await.doing.is_empty(),
        "nobody is at it any more"
    );
}

pub(crate) async fn a_renewal_lasts_as_long_as_it_asks_for(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.held(submission()).await;
    scene.after(Duration::from_secs(50 * 60)).await;
    assert_eq!(scene.state(task.execution_id).await, PublicState::Active);
    let renew = |ttl| Renew {
        fence: Some(task.fence),
        ttl: Some(ttl),
        doing: Vec::new(),
    };
    for ttl in [Duration::from_millis(999), Duration::from_hours(25)] {
        let answer = scene.fabric.renew(On::new(task.execution_id, renew(ttl))).await;
        assert_eq!(refused(answer), Code::InvalidInput);
    }
    scene
        .fabric
        .renew(On::new(task.execution_id, renew(SECOND)))
        .await
        .unwrap();
    scene.after(SECOND).await;
    assert_eq!(refused(scene.complete(&task).await), Code::LeaseExpired);
}

pub(crate) async fn a_released_task_goes_on_with_the_same_attempt(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.release(&task).await.unwrap();
    assert_eq!(scene.state(task.execution_id).await, PublicState::Waiting);
    let again = scene.claim("other").await;
    assert_eq!(again.fence.attempt_id, task.fence.attempt_id);
    assert!(again.fence.lease_epoch > task.fence.lease_epoch);
    assert_eq!(scene.view(task.execution_id).await.attempt_count, 1);
}

pub(crate) async fn a_released_task_keeps_its_place(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let ids = scene.submit_in_turn(2).await;
    let task = scene.claim(WORKER).await;
    assert_eq!(task.execution_id, ids[0]);
    scene.release(&task).await.unwrap();
    assert_eq!(scene.claim(WORKER).await.execution_id, ids[0]);
}

pub(crate) async fn a_delayed_task_goes_on_later_with_the_same_attempt(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let delay = DelayUntil {
        fence: Some(task.fence),
        until: task.now + MINUTE,
        step: None,
        steps: Vec::new(),
    };
    let delay = On::new(task.execution_id, delay);
    assert_eq!(scene.fabric.delay(delay.clone()).await.unwrap(), LetGo::Now);
    assert_eq!(scene.fabric.delay(delay).await.unwrap(), LetGo::Already);
    let vector = scene.vector(task.execution_id).await;
    assert_eq!(vector.public_state, PublicState::Delayed);
    assert_eq!(vector.blocking_reason, BlockingReason::WaitingForDelay);
    assert!(scene.try_claim(WORKER).await.is_none());
    scene.after(MINUTE).await;
    assert_eq!(scene.claim(WORKER).await.fence.attempt_id, task.fence.attempt_id);
}

pub(crate) async fn progress_is_what_the_worker_said_last(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let say = |pct| UpdateProgress {
        fence: Some(task.fence),
        progress: ProgressNote {
            pct: Some(pct),
            message: Some("going on".to_owned()),
        },
    };
    let id = task.execution_id;
    scene.fabric.update_progress(On::new(id, say(40))).await.unwrap();
    let answer = scene.fabric.update_progress(On::new(id, say(101))).await;
    assert_eq!(refused(answer), Code::InvalidInput);
    let progress = scene.view(id).await.progress.unwrap();
    assert_eq!(
        (progress.pct, progress.message.as_deref()),
        (Some(40), Some("going on"))
    );
}

pub(crate) async fn a_revoked_lease_counts_as_a_reclaim(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    assert_eq!(scene.revoke(task.execution_id).await.unwrap(), Revoked::Now);
    assert_eq!(refused(scene.complete(&task).await), Code::LeaseRevoked);
    let view = scene.view(task.execution_id).await;
    assert_eq!(view.counts.reclaims, 1);
    assert_eq!(view.state.state_vector.ownership_state, OwnershipState::LeaseRevoked);
    assert_eq!(
        view.state.state_vector.attempt_state,
        AttemptState::PendingReclaimAttempt
    );
    assert_eq!(scene.claim("other").await.attempt_index, 1);
    assert_eq!(
        scene.vector(task.execution_id).await.ownership_state,
        OwnershipState::Leased
    );
}

pub(crate) async fn only_the_lease_that_was_meant_is_revoked(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let revoke = |epoch| RevokeLease {
        reason: None,
        expected_lease_epoch: Some(epoch),
        request_id: None,
    };
    let (id, epoch) = (task.execution_id, task.fence.lease_epoch);
    let answer = scene.fabric.revoke_lease(On::new(id, revoke(epoch + 1))).await;
    assert_eq!(refused(answer), Code::StaleLease);
    let older = scene.fabric.revoke_lease(On::new(id, revoke(epoch - 1))).await;
    assert_eq!(older.unwrap(), Revoked::AlreadySatisfied);
    assert_eq!(scene.state(id).await, PublicState::Active);
    let meant = scene.fabric.revoke_lease(On::new(id, revoke(epoch))).await;
    assert_eq!(meant.unwrap(), Revoked::Now);
    assert_eq!(scene.revoke(id).await.unwrap(), Revoked::AlreadySatisfied);
}

pub(crate) async fn without_a_lease_there_is_nothing_to_revoke(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    assert_eq!(refused(scene.revoke(id).await), Code::NoActiveLease);
}

pub(crate) async fn a_repeated_request_revokes_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let revoke = RevokeLease {
        reason: None,
        expected_lease_epoch: None,
        request_id: request("revoke-1"),
    };
    let revoke = On::new(task.execution_id, revoke);
    assert_eq!(scene.fabric.revoke_lease(revoke.clone()).await.unwrap(), Revoked::Now);
    let next = scene.claim("other").await;
    assert_eq!(scene.fabric.revoke_lease(revoke).await.unwrap(), Revoked::Now);
    assert_eq!(
        scene.complete(&next).await.unwrap(),
        Completed::Now,
        "its lease was not meant"
    );
}

pub(crate) async fn a_repeated_revocation_never_takes_the_next_lease(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let task = scene.running(under(budget)).await;
    let revoke = RevokeLease {
        reason: None,
        expected_lease_epoch: None,
        request_id: request("revoke-1"),
    };
    let revoke = On::new(task.execution_id, revoke);
    scene.fabric.revoke_lease(revoke.clone()).await.unwrap();
    let next = scene.claim("other").await;
    for n in 0..20 {
        scene.report(&next, budget, 0).await.unwrap();
        scene.hand_out_once(&next, &format!("early-{n}")).await;
    }
    assert_eq!(scene.fabric.revoke_lease(revoke).await.unwrap(), Revoked::Now);
    assert_eq!(scene.complete(&next).await.unwrap(), Completed::Now);
}

pub(crate) async fn a_request_may_revoke_another_lease_that_it_names(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let revoke = |epoch| RevokeLease {
        reason: None,
        expected_lease_epoch: Some(epoch),
        request_id: request("revoke-1"),
    };
    let revoke = |task: &Task| On::new(task.execution_id, revoke(task.fence.lease_epoch));
    let first = revoke(&task);
    assert_eq!(scene.fabric.revoke_lease(first.clone()).await.unwrap(), Revoked::Now);
    let next = scene.claim("other").await;
    assert_eq!(scene.fabric.revoke_lease(first).await.unwrap(), Revoked::Now, "again");
    assert_eq!(scene.fabric.revoke_lease(revoke(&next)).await.unwrap(), Revoked::Now);
    assert_eq!(refused(scene.complete(&next).await), Code::LeaseRevoked);
}

pub(crate) async fn an_execution_that_is_lost_too_often_fails(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.held(with_policy(&json!({ "max_reclaim_count": 1 }))).await;
    scene.revoke(task.execution_id).await.unwrap();
    let next = scene.claim_and_keep().await;
    assert_eq!(next.attempt_kind, AttemptKind::Reclaim);
    scene.after(HOUR).await;
    let view = scene.view(task.execution_id).await;
    assert_eq!(view.state.public_state, PublicState::Failed);
    let failure = view.failure.unwrap();
    assert_eq!(
        (failure.reason.as_str(), failure.category.as_str()),
        ("max_reclaims_exceeded", "infra_crash")
    );
}

pub(crate) async fn a_holder_learns_of_a_cancellation_when_it_renews(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.cancel(task.execution_id).await.unwrap();
    let renew = Renew {
        fence: Some(task.fence),
        ttl: None,
        doing: Vec::new(),
    };
    let refusal = scene.fabric.renew(On::new(task.execution_id, renew)).await.unwrap_err();
    assert_eq!(refusal.code, Code::ExecutionNotActive);
    assert_eq!(refusal.fields["terminal_outcome"], "cancelled");
}

pub(crate) async fn two_that_complete_at_once_are_both_answered(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let completions = (0..4).map(|_| {
        let fabric = Arc::clone(&scene.fabric);
        let complete = Complete {
            fence: Some(task.fence),
            result: None,
            ..Complete::default()
        };
        let id = task.execution_id;
        async move { fabric.complete(On::new(id, complete)).await.unwrap() }
    });
    let answers = at_once(completions).await;
    assert_eq!(answers.iter().filter(|answer| **answer == Completed::Now).count(), 1);
}
