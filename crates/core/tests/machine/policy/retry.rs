//! How often and after what pause a failed attempt is tried again.

use ff_core::command::lease::Failed;
use ff_core::name::Category;
use ff_core::record::AttemptKind;
use ff_core::time::Duration;
use serde_json::json;

use crate::policy::{backoff, pauses};
use crate::running::{Case, MINUTE, SECOND, policy, seconds};
use crate::support::START;

#[test]
fn a_fixed_backoff_pauses_the_same_every_time() {
    let fixed = backoff(&json!({"fixed": {"delay_ms": 70}}));
    assert_eq!(pauses(&fixed, 3), [70, 70, 70]);
    assert_eq!(
        fixed.delay(0, u64::MAX),
        Duration::from_millis(70),
        "luck is no part of it"
    );
}

#[test]
fn an_exponential_backoff_grows_by_its_multiplier_up_to_its_cap() {
    let grown = |multiplier: f64| {
        let fields = json!({"initial_delay_ms": 10, "max_delay_ms": 1000, "multiplier": multiplier});
        pauses(&backoff(&json!({"exponential": fields})), 6)
    };
    assert_eq!(grown(2.0), [10, 20, 40, 80, 160, 320]);
    assert_eq!(grown(5.0), [10, 50, 250, 1_000, 1_000, 1_000]);
    assert_eq!(grown(1.5), [10, 15, 23, 34, 51, 76]);
    assert_eq!(grown(1.0), [10; 6]);
}

#[test]
fn a_backoff_stays_in_its_bounds_however_often_it_is_retried() {
    let longest = backoff(&json!({"exponential": {"multiplier": 1000}}));
    assert_eq!(longest.delay(u32::MAX, 0), MINUTE);
    let none = backoff(&json!({"exponential": {"multiplier": 1000, "initial_delay_ms": 0}}));
    assert_eq!(none.delay(u32::MAX, 0), Duration::ZERO);
}

#[test]
fn jitter_shortens_a_pause_to_between_half_and_all_of_itself() {
    let jittered = backoff(&json!({"exponential": {"initial_delay_ms": 10000, "jitter": true}}));
    let dice = (0..10_000u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let pauses: Vec<_> = dice.map(|dice| jittered.delay(0, dice).as_millis()).collect();
    assert!(pauses.iter().all(|pause| (5_000..=10_000).contains(pause)));
    let short = pauses.iter().filter(|pause| **pause < 7_500).count();
    assert!(
        (4_800..=5_200).contains(&short),
        "uniform, not {short} in the lower half"
    );
    assert_eq!(jittered.delay(0, 0), Duration::from_millis(5_000));
    assert_eq!(jittered.delay(0, u64::MAX), Duration::from_millis(10_000));
    assert_eq!(
        jittered.delay(3, 0),
        Duration::from_millis(30_000),
        "half of the capped minute"
    );
}

#[test]
fn the_luck_of_a_failure_decides_its_pause() {
    let jitter = json!({"retry_policy": {"backoff": {"exponential": {"jitter": true}}}});
    for (dice, pause) in [(0, 500), (u64::MAX, 1_000)] {
        let mut case = Case::with_policy(&jitter).leased();
        case.dice = dice;
        let delay_until = START + Duration::from_millis(pause);
        assert_eq!(case.fail("transient").unwrap(), Failed::RetryScheduled { delay_until });
    }
}

#[test]
fn an_execution_is_retried_as_often_as_its_policy_says_and_then_fails() {
    let mut case = Case::with_policy(&json!({"retry_policy": {"max_retries": 2}}));
    for (retry, pause) in [(1, SECOND), (2, seconds(2))] {
        case.lease();
        let delay_until = case.now() + pause;
        assert_eq!(case.fail("transient").unwrap(), Failed::RetryScheduled { delay_until });
        assert_eq!(case.execution().counts.retries, retry);
        case.pass_and_pump(pause);
    }
    case.lease();
    assert_eq!(case.fail("transient").unwrap(), Failed::TerminalFailed);
    let outcome = case.execution().outcome().cloned().unwrap();
    let failure = outcome.failure.unwrap();
    assert_eq!(
        (failure.reason.as_str(), failure.category.as_str()),
        ("it broke", "transient")
    );
    assert_eq!((case.attempt().index, case.attempt().kind), (2, AttemptKind::Retry));
}

#[test]
fn without_a_list_everything_is_retried_but_what_is_permanent_cancelled_or_over_a_budget() {
    let retry = policy(&json!({"retry_policy": {}})).retry_policy.unwrap();
    let allows = |category: &str| retry.allows(&Category::parse(category).unwrap(), 0);
    for category in ["transient", "infra_crash", "timeout", "of_my_own"] {
        assert!(allows(category), "{category}");
    }
    assert!(!allows("permanent") && !allows("cancelled") && !allows("budget"));
}

#[test]
fn with_a_list_exactly_what_it_names_is_retried() {
    let listed = json!({"retry_policy": {"retryable_categories": ["permanent", "mine"]}});
    for (category, retried) in [("permanent", true), ("mine", true), ("transient", false)] {
        let mut case = Case::with_policy(&listed).leased();
        let failed = case.fail(category).unwrap();
        assert_eq!(failed != Failed::TerminalFailed, retried, "{category}");
    }
    let empty = json!({"retry_policy": {"retryable_categories": []}});
    let mut case = Case::with_policy(&empty).leased();
    assert_eq!(case.fail("transient").unwrap(), Failed::TerminalFailed);
}
