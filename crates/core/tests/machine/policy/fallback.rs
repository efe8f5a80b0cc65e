//! Which tier an attempt runs on.

use serde_json::json;

use crate::policy::{retrying, timeout_at};
use crate::running::{Case, Move, SECOND, seconds};
use crate::support::START;

/// Three tiers; the second has a timeout of its own.
fn tiered() -> Case {
    let tier = |name: &str| json!({"provider": name, "model": "m"});
    Case::with_policy(&json!({
        "timeout_policy": {"attempt_timeout_ms": 30000},
        "retry_policy": retrying(9),
        "fallback_policy": {"tiers": [
            tier("a"), {"provider": "b", "model": "m", "timeout_ms": 7000}, tier("c")
        ]}
    }))
}

fn provider(case: &Case) -> String {
    let execution = case.execution();
    let tier = execution.definition.policy.tier(execution.attempt.unwrap().tier);
    tier.unwrap().provider.clone()
}

#[test]
fn each_retry_falls_back_to_the_next_tier_and_the_last_repeats() {
    let mut case = tiered();
    let mut used = Vec::new();
    for _ in 0..5 {
        case.lease();
        used.push(provider(&case));
        case.fail("transient").unwrap();
        case.pass_and_pump(SECOND);
    }
    assert_eq!(used, ["a", "b", "c", "c", "c"]);
}

#[test]
fn a_tier_with_a_timeout_replaces_that_of_the_attempt() {
    let mut case = tiered();
    let mut left = Vec::new();
    for _ in 0..3 {
        case.lease();
        left.push(timeout_at(&case).since(case.now()));
        case.fail("transient").unwrap();
        case.pass_and_pump(SECOND);
    }
    assert_eq!(left, [seconds(30), seconds(7), seconds(30)]);
}

#[test]
fn the_first_tier_has_its_timeout_from_the_start() {
    let tiers = json!([{"provider": "a", "model": "m", "timeout_ms": 7000}]);
    let mut case = Case::with_policy(&json!({"fallback_policy": {"tiers": tiers}}));
    case.claim();
    assert_eq!(timeout_at(&case), START + seconds(7));
}

#[test]
fn a_reclaim_a_release_and_a_resume_keep_the_tier() {
    let lose: [Move; 3] = [
        |case| _ = case.revoke(None).unwrap(),
        |case| _ = case.release().unwrap(),
        |case| {
            case.suspend();
            case.resume();
        },
    ];
    for lose in lose {
        let mut case = tiered().leased();
        case.fail("transient").unwrap();
        case.pass_and_pump(SECOND);
        case.lease();
        lose(&mut case);
        assert_eq!(case.execution().runnable().unwrap().next_claim.tier, 1);
        case.claim();
        assert_eq!(provider(&case), "b");
        assert_eq!(timeout_at(&case), case.now() + seconds(7));
    }
}

#[test]
fn a_timeout_falls_back_as_any_failure_does() {
    let mut case = tiered().leased();
    case.pass_and_pump(seconds(30));
    case.pass_and_pump(SECOND);
    case.claim();
    assert_eq!(provider(&case), "b");
}
