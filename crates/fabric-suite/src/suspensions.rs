//! Suspending: what is waited for, what came early, what happens when nothing comes.

use ff_core::command::claim::Task;
use ff_core::command::lease::Completed;
use ff_core::command::signal::{DeliverSignal, Delivered, ListApprovals, Verdict};
use ff_core::command::suspend::{Suspend, WaitpointChoice};
use ff_core::command::waitpoint::{
    CreatePendingWaitpoint, IssuedWaitpoint, RequiredNames, SuspendedTask, WaitpointState,
};
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::id::{ExecutionId, SignalId, SuspensionId, WaitpointId};
use ff_core::limits::REQUESTS_REMEMBERED_MAX;
use ff_core::name::{IdempotencyKey, SignalName};
use ff_core::payload::Payload;
use ff_core::record::{Distinct, Matcher, ReasonCode, ResumeCondition, ResumedBy, SignalEffect, TimeoutBehavior};
use ff_core::state::{AttemptState, BlockingReason, OwnershipState, PublicState};
use ff_core::time::Duration;
use ff_core::view::SignalView;
use serde_json::json;

use crate::Harness;
use crate::scene::{
    MINUTE, SECOND, Scene, WORKER, fresh, key, refused, request, retrying, signal, single, submission, waiting,
    waiting_for, with_policy,
};

pub(crate) async fn a_suspended_execution_gives_up_its_lease(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (task, waitpoint) = scene.asleep(submission()).await;
    let view = scene.view(task.execution_id).await;
    assert_eq!(view.state.public_state, PublicState::Suspended);
    assert_eq!(view.state.state_vector.ownership_state, OwnershipState::Unowned);
    assert_eq!(view.state.state_vector.attempt_state, AttemptState::AttemptInterrupted);
    let suspension = view.suspension.unwrap();
    assert_eq!(suspension.waitpoints[0].id, waitpoint.waitpoint_id);
    assert_eq!(suspension.reason_code, ReasonCode::WaitingForSignal);
    assert!(scene.try_claim(WORKER).await.is_none());
    assert_eq!(refused(scene.complete(&task).await), Code::ExecutionNotActive);
}

pub(crate) async fn every_reason_shows_as_what_it_is(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let shown = [
        (ReasonCode::WaitingForSignal, BlockingReason::WaitingForSignal),
        (ReasonCode::WaitingForApproval, BlockingReason::WaitingForApproval),
        (ReasonCode::WaitingForCallback, BlockingReason::WaitingForCallback),
        (ReasonCode::WaitingForToolResult, BlockingReason::WaitingForToolResult),
        (ReasonCode::OperatorReview, BlockingReason::PausedByOperator),
        (ReasonCode::ManualPause, BlockingReason::PausedByOperator),
        (ReasonCode::Policy, BlockingReason::PausedByPolicy),
        (ReasonCode::Budget, BlockingReason::WaitingForBudget),
    ];
    for (reason_code, blocking_reason) in shown {
        let task = scene.running(submission()).await;
        let suspend = Suspend {
            reason_code,
            ..waiting(&task)
        };
        scene.suspended(&task, suspend).await;
        assert_eq!(scene.vector(task.execution_id).await.blocking_reason, blocking_reason);
    }
}

pub(crate) async fn a_satisfied_suspension_goes_on_with_the_same_attempt(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (task, waitpoint) = scene.asleep(submission()).await;
    scene.send(task.execution_id, &waitpoint, signal("go")).await.unwrap();
    assert_eq!(scene.state(task.execution_id).await, PublicState::Resumable);
    let again = scene.claim("other").await;
    assert_eq!(again.fence.attempt_id, task.fence.attempt_id);
    let resumed = again.resumed.unwrap();
    assert_eq!(resumed.by, ResumedBy::Signals);
    let SignalView { signal: told, payload } = &resumed.signals[0];
    assert_eq!(told.name.as_str(), "go");
    assert_eq!(*payload, Payload::json(&json!({ "said": "go" })));
    assert_eq!(scene.vector(task.execution_id).await.public_state, PublicState::Active);
}

pub(crate) async fn a_resumed_execution_keeps_its_place(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (first, waitpoint) = scene.asleep(submission()).await;
    scene.after(SECOND).await;
    scene.submit_plain().await;
    scene.send(first.execution_id, &waitpoint, signal("go")).await.unwrap();
    assert_eq!(scene.claim(WORKER).await.execution_id, first.execution_id);
}

pub(crate) async fn a_repeated_suspend_is_answered_the_same(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let suspend = waiting(&task);
    let first = scene.suspend(task.execution_id, suspend.clone()).await.unwrap();
    let again = scene.suspend(task.execution_id, suspend).await.unwrap();
    assert_eq!(again, first);
}

pub(crate) async fn another_suspend_under_the_same_lease_is_refused(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let keyed = |text: &str| Suspend {
        idempotency_key: Some(IdempotencyKey::parse(text).unwrap()),
        ..waiting(&task)
    };
    scene.suspended(&task, keyed("one")).await;
    let answer = scene.suspend(task.execution_id, keyed("two")).await;
    assert_eq!(refused(answer), Code::AlreadySuspended);
}

pub(crate) async fn a_resume_delay_comes_after_the_signal(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let patient = Suspend {
        resume_delay: MINUTE,
        ..waiting(&task)
    };
    let waitpoint = scene.suspended(&task, patient).await.remove(0);
    scene.send(task.execution_id, &waitpoint, signal("go")).await.unwrap();
    let vector = scene.vector(task.execution_id).await;
    assert_eq!(vector.public_state, PublicState::Delayed);
    assert_eq!(vector.blocking_reason, BlockingReason::WaitingForResumeDelay);
    scene.after(MINUTE).await;
    assert_eq!(scene.state(task.execution_id).await, PublicState::Resumable);
    assert!(scene.claim(WORKER).await.resumed.is_some());
}

pub(crate) async fn a_suspension_that_times_out_may_fail(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = timed_out(&scene, TimeoutBehavior::Fail).await;
    let view = scene.view(id).await;
    assert_eq!(view.state.public_state, PublicState::Failed);
    assert_eq!(view.failure.unwrap().category.as_str(), "timeout");
    assert!(scene.try_claim(WORKER).await.is_none(), "without a retry");
}

pub(crate) async fn a_suspension_that_times_out_may_cancel(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = timed_out(&scene, TimeoutBehavior::Cancel).await;
    assert_eq!(scene.state(id).await, PublicState::Cancelled);
}

pub(crate) async fn a_suspension_that_times_out_may_resume(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    timed_out(&scene, TimeoutBehavior::AutoResumeWithTimeoutSignal).await;
    let resumed = scene.claim(WORKER).await.resumed.unwrap();
    assert_eq!(resumed.by, ResumedBy::Timeout);
    assert_eq!(resumed.signals[0].signal.name.as_str(), "timeout");
}

pub(crate) async fn a_suspension_that_times_out_may_call_a_person(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = timed_out(&scene, TimeoutBehavior::Escalate).await;
    let view = scene.view(id).await;
    assert_eq!(view.state.public_state, PublicState::Suspended);
    assert_eq!(
        view.state.state_vector.blocking_reason,
        BlockingReason::PausedByOperator
    );
    assert!(view.suspension.unwrap().escalated);
    let page = scene.fabric.approvals(ListApprovals::default()).await.unwrap();
    assert_eq!(page.items[0].execution_id, id);
    assert!(page.items[0].escalated);
}

async fn timed_out(scene: &Scene<'_>, behavior: TimeoutBehavior) -> ExecutionId {
    let task = scene.running(retrying(3)).await;
    let suspend = Suspend {
        timeout_at: Some(task.now + MINUTE),
        timeout_behavior: Some(behavior),
        ..waiting(&task)
    };
    scene.suspended(&task, suspend).await;
    scene.after(MINUTE).await;
    task.execution_id
}

pub(crate) async fn a_signal_that_comes_with_the_timeout_loses(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let suspend = Suspend {
        timeout_at: Some(task.now + MINUTE),
        timeout_behavior: Some(TimeoutBehavior::Expire),
        ..waiting(&task)
    };
    let waitpoint = scene.suspended(&task, suspend).await.remove(0);
    scene.after(MINUTE).await;
    let answer = scene.send(task.execution_id, &waitpoint, signal("late")).await;
    assert_eq!(refused(answer), Code::TargetNotSignalable);
    assert_eq!(scene.state(task.execution_id).await, PublicState::Expired);
}

pub(crate) async fn an_escalated_suspension_still_takes_signals(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = timed_out(&scene, TimeoutBehavior::Escalate).await;
    let open = scene.fabric.list_pending_waitpoints(id).await.unwrap();
    scene.decide(id, open[0].waitpoint_id, Verdict::Approve).await.unwrap();
    assert_eq!(scene.state(id).await, PublicState::Resumable);
}

pub(crate) async fn the_policy_times_out_a_suspension_that_does_not_say(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let policy = json!({ "suspension_policy": { "default_timeout_ms": 60_000, "timeout_behavior": "cancel" } });
    let (task, _) = scene.asleep(with_policy(&policy)).await;
    scene.after(MINUTE).await;
    assert_eq!(scene.state(task.execution_id).await, PublicState::Cancelled);
}

pub(crate) async fn a_suspension_may_wait_for_nothing_but_time(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let nap = Suspend {
        timeout_at: Some(task.now + MINUTE),
        ..waiting_for(&task, &["unused"], ResumeCondition::TimeoutOnly)
    };
    scene.suspended(&task, nap).await;
    scene.after(MINUTE).await;
    assert_eq!(scene.claim(WORKER).await.resumed.unwrap().by, ResumedBy::Timeout);
}

pub(crate) async fn a_timeout_in_the_past_is_refused(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let late = Suspend {
        timeout_at: Some(task.now - SECOND),
        ..waiting(&task)
    };
    assert_eq!(
        refused(scene.suspend(task.execution_id, late).await),
        Code::InvalidInput
    );
    assert_eq!(
        scene.complete(&task).await.unwrap(),
        Completed::Now,
        "the lease is kept"
    );
}

pub(crate) async fn a_suspension_has_1_to_100_waitpoints(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let names: Vec<String> = (0..101).map(|n| format!("w{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for wrong in [&[][..], &names] {
        let suspend = waiting_for(&task, wrong, ResumeCondition::OperatorOnly);
        assert_eq!(
            refused(scene.suspend(task.execution_id, suspend).await),
            Code::InvalidInput
        );
    }
    let suspend = waiting_for(&task, &names[..100], ResumeCondition::OperatorOnly);
    assert_eq!(scene.suspended(&task, suspend).await.len(), 100);
}

pub(crate) async fn waitpoint_keys_of_a_suspension_differ(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let twice = waiting_for(&task, &["same", "same"], single("same", Matcher::Any));
    let answer = scene.suspend(task.execution_id, twice).await;
    assert_eq!(refused(answer), Code::WaitpointAlreadyExists);
}

pub(crate) async fn a_condition_must_be_well_formed(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let count = |n, distinct| ResumeCondition::Count {
        n,
        distinct,
        matcher: None,
        waitpoints: vec![key("a")],
    };
    let nested = |inner| ResumeCondition::AllOf(vec![inner]);
    let a = || single("a", Matcher::Any);
    let malformed = [
        (single("b", Matcher::Any), "resume_condition.single.waitpoint_key"),
        (ResumeCondition::AllOf(vec![]), "resume_condition.all_of"),
        (nested(ResumeCondition::OperatorOnly), "resume_condition.all_of[0]"),
        (ResumeCondition::TimeoutOnly, "resume_condition"),
        (count(0, Distinct::Signals), "resume_condition.count.n"),
        (count(1_001, Distinct::Signals), "resume_condition.count.n"),
        (count(2, Distinct::Waitpoints), "resume_condition.count.n"),
        (
            nested(nested(nested(nested(a())))),
            "resume_condition.all_of[0].all_of[0].all_of[0].all_of[0]",
        ),
    ];
    for (condition, path) in malformed {
        let suspend = waiting_for(&task, &["a"], condition);
        let refusal = scene.suspend(task.execution_id, suspend).await.unwrap_err();
        assert_eq!(
            (refusal.code, &refusal.fields["path"]),
            (Code::InvalidCondition, &json!(path))
        );
    }
    let deepest = waiting_for(&task, &["a"], nested(nested(nested(a()))));
    assert_eq!(scene.suspended(&task, deepest).await.len(), 1);
}

pub(crate) async fn early_signals_that_suffice_keep_the_lease(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let early = scene.hand_out(&task, "callback").await;
    let delivered = scene.send(task.execution_id, &early, signal("done")).await.unwrap();
    let Delivered::Accepted { signal_id, effect } = delivered else {
        panic!("it is new");
    };
    assert_eq!(effect, SignalEffect::BufferedForPendingWaitpoint);
    let outcome = scene.suspend(task.execution_id, using(&task, &early)).await.unwrap();
    assert_eq!(
        outcome,
        SuspendedTask::AlreadySatisfied {
            signals: vec![signal_id],
            step_seq: None,
        }
    );
    assert_eq!(scene.state(task.execution_id).await, PublicState::Active);
    let answer = scene.send(task.execution_id, &early, signal("again")).await;
    assert_eq!(refused(answer), Code::WaitpointClosed);
    assert_eq!(scene.complete(&task).await.unwrap(), Completed::Now);
}

pub(crate) async fn early_signals_count_with_later_ones(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let early = scene.hand_out(&task, "callback").await;
    scene.send(task.execution_id, &early, signal("one")).await.unwrap();
    let two = ResumeCondition::Count {
        n: 2,
        distinct: Distinct::Signals,
        matcher: None,
        waitpoints: vec![key("callback")],
    };
    let suspend = Suspend {
        resume_condition: two,
        ..using(&task, &early)
    };
    let used = scene.suspended(&task, suspend).await;
    assert_eq!(used[0].token, early.token, "what was handed out still opens it");
    scene.send(task.execution_id, &early, signal("two")).await.unwrap();
    let resumed = scene.claim(WORKER).await.resumed.unwrap();
    let names: Vec<_> = resumed.signals.iter().map(|view| view.signal.name.as_str()).collect();
    assert_eq!(names, ["one", "two"]);
}

pub(crate) async fn early_signals_count_in_the_order_they_came(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.held(submission()).await;
    let early = [scene.hand_out(&task, "a").await, scene.hand_out(&task, "b").await];
    let mut sent = Vec::new();
    for n in 0..30 {
        // Whatever order the ids have says nothing about the order they came in.
        let signal_id = SignalId::from_uuid(uuid::Uuid::from_u128(u128::MAX - n));
        sent.push(signal_id);
        let signal = DeliverSignal {
            signal_id: Some(signal_id),
            ..signal("vote")
        };
        scene.send(task.execution_id, &early[0], signal).await.unwrap();
    }
    let elsewhere = scene.send(task.execution_id, &early[1], signal("vote")).await;
    assert!(matches!(elsewhere.unwrap(), Delivered::Accepted { .. }));
    let suspend = Suspend {
        resume_condition: ResumeCondition::Count {
            n: 30,
            distinct: Distinct::Signals,
            matcher: None,
            waitpoints: vec![key("a")],
        },
        ..using(&task, &early[0])
    };
    let outcome = scene.suspend(task.execution_id, suspend).await.unwrap();
    assert_eq!(
        outcome,
        SuspendedTask::AlreadySatisfied {
            signals: sent,
            step_seq: None,
        }
    );
}

pub(crate) async fn a_repeated_suspend_that_was_not_needed_is_answered_the_same(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let early = scene.hand_out(&task, "callback").await;
    scene.send(task.execution_id, &early, signal("done")).await.unwrap();
    let first = scene.suspend(task.execution_id, using(&task, &early)).await.unwrap();
    let again = scene.suspend(task.execution_id, using(&task, &early)).await.unwrap();
    assert_eq!(again, first);
}

pub(crate) async fn another_suspend_at_a_waitpoint_that_was_used_up_is_refused(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let early = scene.hand_out(&task, "callback").await;
    scene.send(task.execution_id, &early, signal("done")).await.unwrap();
    scene.suspend(task.execution_id, using(&task, &early)).await.unwrap();
    let never = Matcher::ByName(SignalName::parse("never").unwrap());
    let others = [
        Suspend {
            resume_condition: single("callback", never),
            ..using(&task, &early)
        },
        Suspend {
            idempotency_key: Some(IdempotencyKey::parse("another").unwrap()),
            ..using(&task, &early)
        },
    ];
    for other in others {
        let answer = scene.suspend(task.execution_id, other).await;
        assert_eq!(refused(answer), Code::WaitpointClosed);
    }
    assert_eq!(
        scene.complete(&task).await.unwrap(),
        Completed::Now,
        "the lease is kept"
    );
}

pub(crate) async fn a_retry_and_a_reclaim_are_handed_the_signals_again(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (task, waitpoint) = scene.asleep(retrying(1)).await;
    scene.send(task.execution_id, &waitpoint, signal("go")).await.unwrap();
    let resumed = scene.claim_and_keep().await;
    scene.fail(&resumed, "transient").await.unwrap();
    let retry = scene.claim_and_keep().await;
    assert_eq!(
        (retry.attempt_index, &retry.resumed),
        (resumed.attempt_index + 1, &resumed.resumed)
    );
    scene.revoke(retry.execution_id).await.unwrap();
    assert_eq!(scene.claim(WORKER).await.resumed, resumed.resumed);
}

pub(crate) async fn a_pending_waitpoint_is_used_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let early = scene.hand_out(&task, "callback").await;
    scene.suspended(&task, using(&task, &early)).await;
    scene.send(task.execution_id, &early, signal("done")).await.unwrap();
    let again = scene.claim(WORKER).await;
    let answer = scene.suspend(again.execution_id, using(&again, &early)).await;
    assert_eq!(refused(answer), Code::WaitpointClosed);
}

pub(crate) async fn an_unknown_or_expired_pending_waitpoint_cannot_be_used(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.held(submission()).await;
    let brief = scene.try_hand_out(&task, "callback", SECOND).await.unwrap();
    let unknown = IssuedWaitpoint {
        waitpoint_id: WaitpointId::from_uuid(fresh()),
        ..brief.clone()
    };
    let answer = scene.suspend(task.execution_id, using(&task, &unknown)).await;
    assert_eq!(refused(answer), Code::WaitpointNotFound);
    scene.after(SECOND).await;
    let answer = scene.suspend(task.execution_id, using(&task, &brief)).await;
    assert_eq!(refused(answer), Code::PendingWaitpointExpired);
    let answer = scene.send(task.execution_id, &brief, signal("late")).await;
    assert_eq!(refused(answer), Code::WaitpointClosed);
}

pub(crate) async fn a_pending_waitpoint_that_is_open_is_handed_out_again(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let first = scene.hand_out(&task, "callback").await;
    scene.release(&task).await.unwrap();
    let next = scene.claim(WORKER).await;
    let again = scene.try_hand_out(&next, "callback", MINUTE).await.unwrap();
    assert_eq!(again, first, "whoever takes over gives away the same callback");
    let another = CreatePendingWaitpoint {
        fence: Some(next.fence),
        waitpoint_key: key("callback"),
        expires_in: MINUTE,
        waitpoint_id: Some(WaitpointId::from_uuid(fresh())),
        request_id: None,
    };
    let answer = scene
        .fabric
        .create_pending_waitpoint(On::new(next.execution_id, another))
        .await;
    assert_eq!(refused(answer), Code::WaitpointAlreadyExists);
}

pub(crate) async fn a_condition_may_ask_for_any_of_some_names(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let either = |names: &[&str]| {
        let names = names.iter().map(|name| SignalName::parse(name).unwrap());
        waiting_for(&task, &["a"], single("a", Matcher::ByNames(names.collect())))
    };
    let refusal = scene.suspend(task.execution_id, either(&[])).await;
    assert_eq!(refused(refusal), Code::InvalidCondition);
    let waitpoint = scene
        .suspended(&task, either(&["approved", "rejected"]))
        .await
        .remove(0);
    scene.send(task.execution_id, &waitpoint, signal("else")).await.unwrap();
    assert_eq!(scene.state(task.execution_id).await, PublicState::Suspended);
    scene
        .send(task.execution_id, &waitpoint, signal("rejected"))
        .await
        .unwrap();
    let next = scene.claim(WORKER).await;
    assert_eq!(next.resumed.unwrap().signals.len(), 1);
}

pub(crate) async fn open_pending_waitpoints_are_at_most_100(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.held(submission()).await;
    for n in 0..100 {
        scene.hand_out(&task, &format!("w{n}")).await;
    }
    let answer = scene.try_hand_out(&task, "one-more", MINUTE).await;
    assert_eq!(refused(answer), Code::InvalidInput);
}

pub(crate) async fn a_pending_waitpoint_lasts_1_ms_to_30_days(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    for wrong in [Duration::ZERO, Duration::from_hours(30 * 24 + 1)] {
        let answer = scene.try_hand_out(&task, "callback", wrong).await;
        assert_eq!(refused(answer), Code::InvalidInput);
    }
    assert!(
        scene
            .try_hand_out(&task, "callback", Duration::from_hours(30 * 24))
            .await
            .is_ok()
    );
}

pub(crate) async fn a_repeated_request_hands_out_one_waitpoint(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let pending = || CreatePendingWaitpoint {
        fence: Some(task.fence),
        waitpoint_key: key("callback"),
        expires_in: MINUTE,
        request_id: request("hand-out-1"),
        waitpoint_id: None,
    };
    let ask = || {
        scene
            .fabric
            .create_pending_waitpoint(On::new(task.execution_id, pending()))
    };
    let first = ask().await.unwrap();
    for n in 0..REQUESTS_REMEMBERED_MAX {
        scene.hand_out_once(&task, &format!("w{n}")).await;
    }
    let again = ask().await.unwrap();
    assert_eq!(again, first, "however many requests came after it");
}

pub(crate) async fn a_suspension_and_its_waitpoints_may_be_given_ids(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let (suspension_id, pending, made) = (
        SuspensionId::from_uuid(fresh()),
        WaitpointId::from_uuid(fresh()),
        WaitpointId::from_uuid(fresh()),
    );
    let hand_out = CreatePendingWaitpoint {
        fence: Some(task.fence),
        waitpoint_key: key("callback"),
        expires_in: MINUTE,
        request_id: None,
        waitpoint_id: Some(pending),
    };
    let ask = || {
        scene
            .fabric
            .create_pending_waitpoint(On::new(task.execution_id, hand_out.clone()))
    };
    let first = ask().await.unwrap();
    assert_eq!(first.waitpoint_id, pending);
    assert_eq!(ask().await.unwrap(), first, "the same id is the same waitpoint");
    let fresh = WaitpointChoice::Fresh {
        waitpoint_key: key("answer"),
        waitpoint_id: Some(made),
    };
    let suspend = Suspend {
        suspension_id: Some(suspension_id),
        waitpoints: vec![fresh],
        ..waiting(&task)
    };
    let waitpoints = scene.suspended(&task, suspend).await;
    assert_eq!(waitpoints[0].waitpoint_id, made);
    let suspension = scene.view(task.execution_id).await.suspension.unwrap();
    assert_eq!(suspension.suspension_id, suspension_id);
}

pub(crate) async fn every_suspension_has_ids_of_its_own(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (task, first) = scene.asleep(submission()).await;
    let id = task.execution_id;
    let one = scene.view(id).await.suspension.unwrap().suspension_id;
    scene.send(id, &first, signal("go")).await.unwrap();
    let again = scene.claim(WORKER).await;
    let second = scene.suspended(&again, waiting(&again)).await.remove(0);
    assert_ne!(second.waitpoint_id, first.waitpoint_id);
    assert_ne!(scene.view(id).await.suspension.unwrap().suspension_id, one);
    assert_eq!(
        refused(scene.send(id, &first, signal("late")).await),
        Code::WaitpointClosed
    );
}

pub(crate) async fn open_waitpoints_are_listed_without_their_tokens(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let early = scene.hand_out(&task, "spare").await;
    let named = Matcher::ByName(SignalName::parse("yes").unwrap());
    let used = scene
        .suspended(&task, waiting_for(&task, &["answer"], single("answer", named)))
        .await;
    let open = scene.fabric.list_pending_waitpoints(task.execution_id).await.unwrap();
    let shown: Vec<_> = open.iter().map(|open| (open.waitpoint_id, open.state)).collect();
    let expected = [
        (used[0].waitpoint_id, WaitpointState::Active),
        (early.waitpoint_id, WaitpointState::Pending),
    ];
    assert_eq!(shown, expected);
    let yes = [SignalName::parse("yes").unwrap()].into();
    assert_eq!(open[0].required_names, RequiredNames::Names(yes));
    assert_eq!(
        (open[1].closes_at, &open[1].required_names),
        (early.expires_at, &RequiredNames::Nothing)
    );
    let (_, mac) = used[0].token.expose().split_once(':').unwrap();
    assert!(!mac.contains(&open[0].fingerprint));
    assert!(!serde_json::to_string(&open).unwrap().contains(mac));
}

/// Waits for any signal at a waitpoint that was handed out.
fn using(task: &Task, waitpoint: &IssuedWaitpoint) -> Suspend {
    let condition = single(waitpoint.waitpoint_key.as_str(), Matcher::Any);
    let waitpoint_id = waitpoint.waitpoint_id;
    Suspend {
        waitpoints: vec![WaitpointChoice::UsePending { waitpoint_id }],
        ..waiting_for(task, &[], condition)
    }
}
