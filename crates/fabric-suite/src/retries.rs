//! What follows a failure, and how long anything may take.

use ff_core::command::lease::Failed;
use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::record::{AttemptEndState, AttemptKind};
use ff_core::state::{AttemptState, BlockingReason, PublicState, TerminalOutcome};
use ff_core::time::Duration;
use serde_json::{Value, json};

use crate::Harness;
use crate::scene::{HOUR, MINUTE, SECOND, Scene, WORKER, all, instance, refused, retrying, submission, with_policy};

pub(crate) async fn without_a_retry_policy_a_failure_is_final(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    assert_eq!(scene.fail(&task, "transient").await.unwrap(), Failed::TerminalFailed);
    let view = scene.view(task.execution_id).await;
    assert_eq!(view.state.public_state, PublicState::Failed);
    let failure = view.failure.unwrap();
    assert_eq!(
        (failure.reason.as_str(), failure.category.as_str()),
        ("it broke", "transient")
    );
}

pub(crate) async fn a_failure_is_retried_as_often_as_the_policy_says(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit(retrying(2)).await;
    for attempt in 0..2 {
        let task = scene.claim(WORKER).await;
        assert_eq!(task.attempt_index, attempt);
        let failed = scene.fail(&task, "transient").await.unwrap();
        assert!(matches!(failed, Failed::RetryScheduled { .. }));
    }
    let last = scene.claim(WORKER).await;
    assert_eq!(last.attempt_kind, AttemptKind::Retry);
    assert_eq!(scene.fail(&last, "transient").await.unwrap(), Failed::TerminalFailed);
    assert_eq!(scene.view(id).await.counts.retries, 2);
}

pub(crate) async fn permanent_and_cancelled_failures_are_not_retried(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    for category in ["permanent", "cancelled"] {
        let task = scene.running(retrying(3)).await;
        assert_eq!(scene.fail(&task, category).await.unwrap(), Failed::TerminalFailed);
    }
}

pub(crate) async fn a_failure_may_put_off_its_retry(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (less, patience) = (Duration::from_secs(40), Duration::from_secs(20));
    // Not before both it and the backoff, and at most a day.
    for (backoff, asked, comes) in [
        (less, MINUTE, MINUTE),
        (MINUTE, less, MINUTE),
        (less, Duration::from_hours(48), Duration::from_hours(24)),
    ] {
        let backoff = json!({ "fixed": { "delay_ms": backoff.as_millis() } });
        let task = scene
            .running(with_policy(&json!({ "retry_policy": { "backoff": backoff } })))
            .await;
        let now = scene.now().await;
        let failed = scene.fail_for_now(&task, "transient", asked).await.unwrap();
        let Failed::RetryScheduled { delay_until } = failed else {
            panic!("not retried: {failed:?}");
        };
        // A store whose time passes by itself is a moment further by now, and what is known of its time a moment behind.
        let soonest = now + comes - SECOND;
        assert!(
            (soonest..now + comes + patience).contains(&delay_until),
            "{delay_until} is not {comes} after {now}"
        );
        scene.cancel(task.execution_id).await.unwrap();
    }
    let final_one = scene.running(submission()).await;
    let failed = scene.fail_for_now(&final_one, "transient", MINUTE).await.unwrap();
    assert_eq!(failed, Failed::TerminalFailed, "it makes no retry of its own");
}

pub(crate) async fn only_listed_categories_are_retried(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let backoff = json!({ "fixed": { "delay_ms": 0 } });
    let retry = json!({ "backoff": backoff, "retryable_categories": ["permanent", "rate_limit"] });
    let policy = json!({ "retry_policy": retry });
    let task = scene.running(with_policy(&policy)).await;
    let failed = scene.fail(&task, "rate_limit").await.unwrap();
    assert!(matches!(failed, Failed::RetryScheduled { .. }));
    let again = scene.claim(WORKER).await;
    assert_eq!(scene.fail(&again, "transient").await.unwrap(), Failed::TerminalFailed);
}

pub(crate) async fn a_retry_waits_for_its_backoff(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let policy = json!({ "retry_policy": { "backoff": { "fixed": { "delay_ms": 60_000 } } } });
    let task = scene.running(with_policy(&policy)).await;
    let Failed::RetryScheduled { delay_until } = scene.fail(&task, "transient").await.unwrap() else {
        panic!("the policy allows it");
    };
    let view = scene.view(task.execution_id).await;
    assert_eq!(view.delay_until, Some(delay_until));
    let vector = view.state.state_vector;
    assert_eq!(vector.public_state, PublicState::Delayed);
    assert_eq!(vector.blocking_reason, BlockingReason::WaitingForRetryBackoff);
    assert_eq!(vector.attempt_state, AttemptState::PendingRetryAttempt);
    assert!(scene.try_claim(WORKER).await.is_none());
    scene.after(MINUTE).await;
    assert_eq!(scene.claim(WORKER).await.attempt_index, 1);
}

pub(crate) async fn an_exponential_backoff_grows_up_to_its_limit(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let backoff = json!({ "initial_delay_ms": 60_000, "multiplier": 2.0, "max_delay_ms": 180_000 });
    let policy = json!({ "retry_policy": { "max_retries": 9, "backoff": { "exponential": backoff } } });
    let id = scene.submit(with_policy(&policy)).await;
    for minutes in [1, 2, 3, 3] {
        let task = scene.claim(WORKER).await;
        scene.fail(&task, "transient").await.unwrap();
        scene.after(Duration::from_secs(60 * minutes - 30)).await;
        assert_eq!(scene.state(id).await, PublicState::Delayed, "within {minutes} minutes");
        scene.after(Duration::from_secs(30)).await;
    }
    assert_eq!(scene.claim(WORKER).await.attempt_index, 4);
}

pub(crate) async fn jitter_shortens_a_backoff_by_at_most_half(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let backoff = json!({ "initial_delay_ms": 60_000, "jitter": true });
    let policy = json!({ "retry_policy": { "backoff": { "exponential": backoff } } });
    let task = scene.running(with_policy(&policy)).await;
    let Failed::RetryScheduled { delay_until } = scene.fail(&task, "transient").await.unwrap() else {
        panic!("the policy allows it");
    };
    let failed_at = scene.history(task.execution_id).await.last().unwrap().at;
    assert!(delay_until >= failed_at + Duration::from_secs(30));
    assert!(delay_until <= failed_at + MINUTE);
}

pub(crate) async fn a_retry_keeps_its_place(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let first = scene.submit(retrying(1)).await;
    scene.after(SECOND).await;
    scene.submit_plain().await;
    let task = scene.claim(WORKER).await;
    scene.fail(&task, "transient").await.unwrap();
    assert_eq!(scene.claim(WORKER).await.execution_id, first);
}

pub(crate) async fn each_retry_moves_to_the_next_tier_and_the_last_repeats(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit(with_policy(&tiered(json!({})))).await;
    for model in ["large", "small", "small"] {
        let task = scene.claim(WORKER).await;
        assert_eq!(task.tier.as_ref().unwrap().model, model);
        scene.fail(&task, "transient").await.unwrap();
    }
    let attempts = scene.fabric.list_attempts(On::new(id, all())).await.unwrap().items;
    assert_eq!(
        attempts.iter().map(|attempt| attempt.tier).collect::<Vec<_>>(),
        [0, 1, 2]
    );
}

pub(crate) async fn a_reclaim_keeps_its_tier(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(with_policy(&tiered(json!({})))).await;
    scene.fail(&task, "transient").await.unwrap();
    let retry = scene.claim_and_keep().await;
    scene.revoke(retry.execution_id).await.unwrap();
    let reclaim = scene.claim(WORKER).await;
    assert_eq!(reclaim.attempt_kind, AttemptKind::Reclaim);
    assert_eq!(reclaim.tier.unwrap().model, "small");
}

pub(crate) async fn the_timeout_of_a_tier_replaces_that_of_the_attempt(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let policy = tiered(json!({ "timeout_policy": { "attempt_timeout_ms": 5_000 } }));
    let task = scene.held(with_policy(&policy)).await;
    scene.after(Duration::from_secs(30)).await;
    assert_eq!(scene.state(task.execution_id).await, PublicState::Active);
    scene.after(Duration::from_secs(30)).await;
    let retry = scene.claim_and_keep().await;
    assert_eq!(retry.attempt_index, 1, "the first tier allows a minute");
    scene.after(Duration::from_secs(5)).await;
    assert_eq!(scene.claim(WORKER).await.attempt_index, 2, "the second says nothing");
}

/// A policy of three retries over two tiers, of which the first allows a minute.
fn tiered(mut policy: Value) -> Value {
    let large = json!({ "provider": "p", "model": "large", "timeout_ms": 60_000 });
    let small = json!({ "provider": "p", "model": "small" });
    policy["fallback_policy"] = json!({ "tiers": [large, small] });
    policy["retry_policy"] = json!({ "backoff": { "fixed": { "delay_ms": 0 } } });
    policy
}

pub(crate) async fn an_attempt_timeout_counts_leased_time_only(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let policy = json!({ "timeout_policy": { "attempt_timeout_ms": 60_000 } });
    let task = scene.held(with_policy(&policy)).await;
    let half_a_minute = Duration::from_secs(30);
    scene.after(half_a_minute).await;
    scene.release(&task).await.unwrap();
    scene.after(HOUR).await;
    scene.claim_and_keep().await;
    scene.after(Duration::from_secs(20)).await;
    assert_eq!(scene.state(task.execution_id).await, PublicState::Active);
    scene.after(Duration::from_secs(10)).await;
    assert_eq!(scene.state(task.execution_id).await, PublicState::Failed);
}

pub(crate) async fn an_attempt_that_timed_out_is_retried(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let policy = json!({
        "timeout_policy": { "attempt_timeout_ms": 60_000 },
        "retry_policy": { "backoff": { "fixed": { "delay_ms": 0 } } },
    });
    let task = scene.held(with_policy(&policy)).await;
    scene.after(MINUTE).await;
    assert_eq!(refused(scene.complete(&task).await), Code::ExecutionNotActive);
    assert_eq!(scene.claim(WORKER).await.attempt_index, 1);
    let page = scene
        .fabric
        .list_attempts(On::new(task.execution_id, all()))
        .await
        .unwrap();
    let end = page.items[0].end.as_ref().unwrap();
    assert_eq!(end.failure.as_ref().unwrap().category.as_str(), "timeout");
}

pub(crate) async fn the_earlier_of_two_deadlines_counts(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let deadline = scene.now().await + MINUTE;
    let command = CreateExecution {
        execution_deadline_at: Some(deadline),
        ..with_policy(&json!({ "timeout_policy": { "execution_deadline_ms": 3_600_000 } }))
    };
    let id = scene.submit(command).await;
    assert_eq!(scene.view(id).await.deadline_at, Some(deadline));
    scene.after(MINUTE).await;
    assert_eq!(scene.state(id).await, PublicState::Expired);
}

pub(crate) async fn a_deadline_ends_a_running_attempt(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let policy = json!({
        "timeout_policy": { "execution_deadline_ms": 60_000 },
        "retry_policy": {},
    });
    let task = scene.held(with_policy(&policy)).await;
    scene.after(MINUTE).await;
    assert_eq!(refused(scene.complete(&task).await), Code::ExecutionNotActive);
    let view = scene.view(task.execution_id).await;
    assert_eq!(view.state.public_state, PublicState::Expired);
    assert_eq!(view.state.state_vector.terminal_outcome, TerminalOutcome::Expired);
    assert!(scene.try_claim(WORKER).await.is_none(), "a deadline is not retried");
}

pub(crate) async fn every_attempt_is_kept(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(retrying(1)).await;
    scene.fail(&task, "transient").await.unwrap();
    let retry = scene.claim_and_keep().await;
    scene.revoke(retry.execution_id).await.unwrap();
    let last = scene.claim("other").await;
    scene.complete(&last).await.unwrap();
    let page = scene
        .fabric
        .list_attempts(On::new(task.execution_id, all()))
        .await
        .unwrap();
    let ends: Vec<_> = page
        .items
        .iter()
        .map(|attempt| (attempt.kind, attempt.end.as_ref().unwrap().state))
        .collect();
    let expected = [
        (AttemptKind::Initial, AttemptEndState::EndedFailure),
        (AttemptKind::Retry, AttemptEndState::InterruptedReclaimed),
        (AttemptKind::Reclaim, AttemptEndState::EndedSuccess),
    ];
    assert_eq!(ends, expected);
    assert_eq!(page.items[2].instance, instance("other"));
}
