//! The leased time of an attempt.

use ff_core::name::Category;
use ff_core::record::AttemptEndState;
use ff_core::state::PublicState;
use serde_json::json;

use crate::policy::{retrying, timeout_at};
use crate::running::{Case, HOUR, MINUTE, Move, SECOND, seconds};
use crate::support::{LEASE_TTL, START};

/// 30 seconds of leased time in all.
fn timed() -> Case {
    Case::with_policy(&json!({"timeout_policy": {"attempt_timeout_ms": 30000}}))
}

#[test]
fn an_attempt_that_uses_up_its_time_fails_with_category_timeout() {
    let mut case = timed().leased();
    assert_eq!(timeout_at(&case), START + seconds(30));
    case.pass_and_pump(seconds(29));
    assert_eq!(case.state(), PublicState::Active);
    case.pass_and_pump(SECOND);
    let outcome = case.execution().outcome().cloned().unwrap();
    assert_eq!(outcome.failure.unwrap().category, Category::timeout());
    let end = case.attempt().end.unwrap();
    assert_eq!((end.state, end.at), (AttemptEndState::EndedFailure, case.now()));
    assert_eq!(end.failure.unwrap().category, Category::timeout());
}

#[test]
fn a_retry_after_a_timeout_has_its_whole_time_again() {
    let mut case = Case::with_policy(&json!({
        "timeout_policy": {"attempt_timeout_ms": 30000},
        "retry_policy": retrying(1)
    }))
    .leased();
    case.pass_and_pump(seconds(30));
    assert_eq!(case.state(), PublicState::Delayed);
    case.pass_and_pump(SECOND);
    case.claim();
    assert_eq!(timeout_at(&case), case.now() + seconds(30));
}

#[test]
fn time_between_two_leases_does_not_count_against_the_attempt() {
    let leave: [Move; 3] = [
        |case| _ = case.release().unwrap(),
        |case| _ = case.delay(case.now() + HOUR).unwrap(),
        Case::suspend,
    ];
    for leave in leave {
        let mut case = timed().leased();
        case.pass(seconds(10));
        leave(&mut case);
        case.pass_and_pump(HOUR);
        if case.state() == PublicState::Suspended {
            case.resume();
        }
        case.claim();
        assert_eq!(timeout_at(&case), case.now() + seconds(20));
        assert_eq!(case.attempt().leased, seconds(10));
    }
}

#[test]
fn the_leased_time_of_every_lease_of_an_attempt_counts() {
    let mut case = timed();
    for _ in 0..2 {
        case.lease();
        case.pass(seconds(12));
        case.release().unwrap();
        case.pass(MINUTE);
    }
    case.lease();
    assert_eq!(timeout_at(&case), case.now() + seconds(6));
    case.pass_and_pump(seconds(6));
    assert_eq!(case.state(), PublicState::Failed);
}

#[test]
fn a_reclaim_has_its_whole_time_again() {
    let mut case = Case::with_policy(&json!({"timeout_policy": {"attempt_timeout_ms": 90000}})).leased();
    case.pass_and_pump(MINUTE);
    assert_eq!(case.execution().counts.reclaims, 1);
    case.claim();
    assert_eq!(timeout_at(&case), case.now() + seconds(90));
}

#[test]
fn time_after_a_lease_ran_out_does_not_count_however_late_it_is_noticed() {
    let mut case = Case::with_policy(&json!({"timeout_policy": {"attempt_timeout_ms": 90000}})).leased();
    case.pass_and_pump(HOUR);
    assert_eq!(case.attempt().leased, LEASE_TTL);
}

#[test]
fn a_lease_nobody_used_takes_no_time_of_the_attempt() {
    let mut case = Case::with_policy(&json!({"timeout_policy": {"attempt_timeout_ms": 5000}}));
    for _ in 0..3 {
        case.claim();
        case.pass_and_pump(seconds(6));
        assert_eq!(case.state(), PublicState::Active);
        case.pass_and_pump(seconds(4));
        assert_eq!(
            (case.state(), case.attempt().leased),
            (PublicState::Waiting, seconds(0))
        );
    }
    case.claim();
    assert_eq!(timeout_at(&case), case.now() + seconds(5));
}

#[test]
fn a_lease_that_is_first_used_after_the_time_of_its_attempt_times_out_then() {
    let mut case = Case::with_policy(&json!({"timeout_policy": {"attempt_timeout_ms": 5000}}));
    case.claim();
    case.pass_and_pump(seconds(6));
    case.renew().unwrap();
    case.pump();
    assert_eq!(case.state(), PublicState::Failed);
    assert_eq!(case.attempt().leased, seconds(5));
}

#[test]
fn leased_time_ends_with_the_time_of_the_attempt_however_late_it_is_noticed() {
    let mut case = timed().leased();
    case.pass_and_pump(HOUR);
    assert_eq!(case.attempt().leased, seconds(30));
}
