//! How a policy reads and writes, and what it refuses.

use ff_core::error::Code;
use ff_core::policy::{Never, Policy, Retention, StreamPolicy};
use ff_core::record::TimeoutBehavior;
use ff_core::time::Duration;
use serde_json::{Value, json};

use crate::policy::{backoff, pauses};
use crate::running::{budget_id, code, policy};
use crate::support::{World, submission};

const ID: &str = "00000000-0000-0000-0000-00000000000a";

/// A policy that says everything there is to say.
fn everything() -> Value {
    json!({
        "retry_policy": {
            "max_retries": 5,
            "backoff": {"exponential": {
                "initial_delay_ms": 10, "max_delay_ms": 100, "multiplier": 3.0, "jitter": true
            }},
            "retryable_categories": ["timeout", "transient"]
        },
        "timeout_policy": {"attempt_timeout_ms": 1000, "execution_deadline_ms": 60000},
        "suspension_policy": {"default_timeout_ms": 500, "timeout_behavior": "escalate"},
        "fallback_policy": {"tiers": [
            {"provider": "a", "model": "large", "timeout_ms": 50},
            {"provider": "b", "model": "small"}
        ]},
        "max_reclaim_count": 7,
        "max_replay_count": 8,
        "budget_ids": [ID],
        "quota_policy_id": ID,
        "routing_requirements": {"required_capabilities": ["gpu"]},
        "dedup_window_ms": 9000,
        "stream_policy": {"retention_maxlen": 11, "retention_ttl_ms": 12},
        "retention_ms": 13,
        "max_signals_per_execution": 14
    })
}

fn refusal(json: &Value) -> String {
    let rejection = Policy::from_json(json).unwrap_err();
    assert_eq!(rejection.code, Code::InvalidPolicy, "{json}");
    rejection.detail
}

#[test]
fn every_field_is_written_as_it_is_read_under_the_names_of_the_interface() {
    let read = policy(&everything());
    assert_eq!(serde_json::to_value(&read).unwrap(), everything());
    let fixed = json!({"retry_policy": {"max_retries": 3, "backoff": {"fixed": {"delay_ms": 5}}}});
    assert_eq!(serde_json::to_value(policy(&fixed)).unwrap(), fixed);
    let never = json!({"retention_ms": "never"});
    assert_eq!(serde_json::to_value(policy(&never)).unwrap(), never);
    assert_eq!(policy(&never).retention, Some(Retention::Forever(Never::Never)));
}

#[test]
fn a_policy_that_says_nothing_is_written_as_nothing() {
    assert_eq!(policy(&json!({})), Policy::default());
    assert_eq!(serde_json::to_value(Policy::default()).unwrap(), json!({}));
}

#[test]
fn every_behavior_at_a_timeout_has_its_name() {
    for (name, behavior) in [
        ("fail", TimeoutBehavior::Fail),
        ("cancel", TimeoutBehavior::Cancel),
        ("expire", TimeoutBehavior::Expire),
        (
            "auto_resume_with_timeout_signal",
            TimeoutBehavior::AutoResumeWithTimeoutSignal,
        ),
        ("escalate", TimeoutBehavior::Escalate),
    ] {
        let json = json!({"suspension_policy": {"timeout_behavior": name}});
        let read = policy(&json);
        assert_eq!(
            read.suspension_policy.as_ref().unwrap().timeout_behavior,
            Some(behavior)
        );
        assert_eq!(serde_json::to_value(read).unwrap(), json);
    }
}

#[test]
fn what_is_left_out_has_the_defaults_of_the_interface() {
    let nothing = Policy::default();
    assert_eq!(nothing.reclaims_max(), 100);
    assert_eq!(nothing.replays_max(), 10);
    assert_eq!(nothing.signals_max(), 10_000);
    assert_eq!(nothing.dedup_window(), Duration::from_hours(24));
    assert_eq!(nothing.retention(), Some(Duration::from_hours(24)));
    assert_eq!((nothing.attempt_timeout(0), nothing.tier(0)), (None, None));
    let retry = policy(&json!({"retry_policy": {}})).retry_policy.unwrap();
    assert_eq!((retry.max_retries, retry.retryable_categories), (3, None));
    assert_eq!(pauses(&retry.backoff, 8)[..3], [1_000, 2_000, 4_000]);
    assert_eq!(pauses(&retry.backoff, 8)[6..], [60_000, 60_000]);
    assert_eq!(backoff(&json!({"exponential": {}})), retry.backoff);
    let stream = policy(&json!({"stream_policy": {}})).stream_policy.unwrap();
    assert_eq!((stream.retention_maxlen, stream.retention_ttl), (10_000, None));
}

#[test]
fn what_is_said_is_what_counts() {
    let said = policy(&everything());
    assert_eq!(
        (said.reclaims_max(), said.replays_max(), said.signals_max()),
        (7, 8, 14)
    );
    assert_eq!(said.dedup_window(), Duration::from_millis(9_000));
    assert_eq!(said.retention(), Some(Duration::from_millis(13)));
    assert_eq!(policy(&json!({"retention_ms": "never"})).retention(), None);
    let stream = StreamPolicy {
        retention_maxlen: 11,
        retention_ttl: Some(Duration::from_millis(12)),
    };
    assert_eq!(said.stream_policy, Some(stream));
}

#[test]
fn an_unknown_field_is_refused_wherever_it_stands() {
    let places = [
        "",
        "/retry_policy",
        "/retry_policy/backoff",
        "/retry_policy/backoff/exponential",
        "/timeout_policy",
        "/suspension_policy",
        "/fallback_policy",
        "/fallback_policy/tiers/0",
        "/routing_requirements",
        "/stream_policy",
    ];
    for place in places {
        let mut json = everything();
        let object = json.pointer_mut(place).and_then(Value::as_object_mut).unwrap();
        object.insert("surprise".to_owned(), json!(1));
        refusal(&json);
    }
    refusal(&json!({"retry_policy": {"backoff": {"fixed": {"delay_ms": 1, "surprise": 1}}}}));
    assert!(refusal(&json!({"surprise": 1})).contains("surprise"), "it is named");
}

#[test]
fn what_has_the_wrong_shape_is_refused() {
    for json in [
        json!(null),
        json!([]),
        json!("never"),
        json!({"retry_policy": {"max_retries": -1}}),
        json!({"retry_policy": {"backoff": "fixed"}}),
        json!({"retry_policy": {"backoff": {"fixed": {}}}}),
        json!({"retry_policy": {"backoff": {"linear": {"delay_ms": 1}}}}),
        json!({"retry_policy": {"retryable_categories": ["Not A Category"]}}),
        json!({"timeout_policy": {"attempt_timeout_ms": 1.5}}),
        json!({"suspension_policy": {"timeout_behavior": "explode"}}),
        json!({"fallback_policy": {}}),
        json!({"fallback_policy": {"tiers": [{"provider": "a"}]}}),
        json!({"max_reclaim_count": "many"}),
        json!({"budget_ids": ["not an id"]}),
        json!({"routing_requirements": {"required_capabilities": ["a b"]}}),
        json!({"retention_ms": "always"}),
        json!({"retention_ms": -1}),
    ] {
        refusal(&json);
    }
}

#[test]
fn what_could_not_be_kept_is_refused_by_the_name_of_its_field() {
    let exponential = |fields: Value| json!({"retry_policy": {"backoff": {"exponential": fields}}});
    let tier = |provider: &str, model: &str| json!({"provider": provider, "model": model});
    let tiers = |tiers: Vec<Value>| json!({"fallback_policy": {"tiers": tiers}});
    let budgets: Vec<_> = (0..17).map(|n| budget_id(n).to_string()).collect();
    for (json, field) in [
        (exponential(json!({"multiplier": 0.99})), "multiplier"),
        (exponential(json!({"multiplier": 1000.1})), "multiplier"),
        (
            exponential(json!({"initial_delay_ms": 2, "max_delay_ms": 1})),
            "initial_delay_ms",
        ),
        (tiers(vec![]), "fallback_policy.tiers"),
        (tiers(vec![tier("a", "b"); 65]), "fallback_policy.tiers"),
        (tiers(vec![tier("", "b")]), "provider"),
        (tiers(vec![tier("a", "")]), "model"),
        (tiers(vec![tier(&"a".repeat(257), "b")]), "provider"),
        (tiers(vec![tier("a", &"b".repeat(257))]), "model"),
        (json!({"timeout_policy": {"attempt_timeout_ms": 0}}), "timeout_policy"),
        (
            json!({"timeout_policy": {"execution_deadline_ms": 0}}),
            "execution_deadline_ms",
        ),
        (
            tiers(vec![json!({"provider": "a", "model": "b", "timeout_ms": 0})]),
            "timeout",
        ),
        (json!({"stream_policy": {"retention_maxlen": 0}}), "retention_maxlen"),
        (
            json!({"max_signals_per_execution": 10_001}),
            "max_signals_per_execution",
        ),
        (json!({"budget_ids": budgets}), "budget_ids"),
    ] {
        let detail = refusal(&json);
        assert!(detail.contains(field), "{field}: {detail}");
    }
}

#[test]
fn what_lies_just_inside_a_limit_is_kept() {
    let tier = json!({"provider": "a".repeat(256), "model": "b".repeat(256), "timeout_ms": 1});
    let budgets: Vec<_> = (0..16).map(|n| budget_id(n).to_string()).collect();
    policy(&json!({"fallback_policy": {"tiers": vec![tier; 64]}}));
    policy(&json!({"budget_ids": budgets}));
    policy(&json!({"max_signals_per_execution": 10_000}));
    policy(&json!({"stream_policy": {"retention_maxlen": 1}}));
    policy(&json!({"timeout_policy": {"attempt_timeout_ms": 1, "execution_deadline_ms": 1}}));
    for multiplier in [1, 1_000] {
        backoff(&json!({"exponential": {"multiplier": multiplier, "initial_delay_ms": 7, "max_delay_ms": 7}}));
    }
}

#[test]
fn a_submission_with_a_bad_policy_is_refused() {
    let mut command = submission().unwrap();
    command.policy.max_signals_per_execution = Some(10_001);
    assert_eq!(code(World::new().submit(&command)), Code::InvalidPolicy);
}
