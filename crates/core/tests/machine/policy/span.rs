//! How long an execution may take, how often it may be lost or replayed, and how long it is kept.

use ff_core::command::flow::ReplayExecution;
use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::machine::replay::{Past, replay};
use ff_core::name::Category;
use ff_core::record::OutcomeKind;
use ff_core::time::{Duration, Timestamp};
use serde_json::json;

use crate::running::{Case, HOUR, MINUTE, Move, SECOND, code, policy, seconds};
use crate::support::{START, submission};

#[test]
fn the_earlier_of_both_deadlines_counts() {
    let deadline = |relative: Option<u64>, absolute: Option<Timestamp>| {
        let command = CreateExecution {
            policy: policy(&json!({"timeout_policy": {"execution_deadline_ms": relative}})),
            execution_deadline_at: absolute,
            ..submission().unwrap()
        };
        Case::submitted(&command).execution().deadline_at
    };
    assert_eq!(deadline(None, None), None);
    assert_eq!(deadline(Some(60_000), None), Some(START + MINUTE));
    assert_eq!(deadline(None, Some(START + HOUR)), Some(START + HOUR));
    assert_eq!(deadline(Some(60_000), Some(START + HOUR)), Some(START + MINUTE));
    assert_eq!(deadline(Some(60_000), Some(START + SECOND)), Some(START + SECOND));
}

#[test]
fn a_deadline_ends_an_execution_as_expired_whatever_it_does() {
    let reach: [Move; 3] = [
        |_| {},
        |case| _ = case.claim(),
        |case| {
            case.lease();
            case.suspend();
        },
    ];
    for reach in reach {
        let mut case = Case::with_policy(&json!({"timeout_policy": {"execution_deadline_ms": 5000}}));
        reach(&mut case);
        case.pass_and_pump(seconds(5));
        let outcome = case.execution().outcome().cloned().unwrap();
        assert_eq!((outcome.kind, outcome.at), (OutcomeKind::Expired, case.now()));
        assert_eq!(outcome.reason.as_deref(), Some("its deadline passed"));
        assert_eq!(case.happened().last(), Some(&"expired"));
    }
}

#[test]
fn a_worker_lost_once_too_often_fails_the_execution() {
    let mut case = Case::with_policy(&json!({"max_reclaim_count": 2}));
    for reclaims in [1, 2] {
        case.lease();
        case.pass_and_pump(MINUTE);
        assert_eq!(case.execution().counts.reclaims, reclaims);
    }
    case.lease();
    case.pass_and_pump(MINUTE);
    let failure = case.execution().outcome().cloned().unwrap().failure.unwrap();
    assert_eq!(failure.reason, "max_reclaims_exceeded");
    assert_eq!(failure.category, Category::infra_crash());
    assert_eq!(case.execution().counts.reclaims, 2);
}

#[test]
fn an_execution_is_replayed_as_often_as_its_policy_says() {
    let mut case = Case::with_policy(&json!({"max_replay_count": 1}));
    let past = Past {
        archived: false,
        has_failed_edges: false,
        steps: Vec::new(),
    };
    let command = ReplayExecution::default();
    case.lease();
    case.complete().unwrap();
    case.act(|execution, context| replay(execution, &command, &past, context))
        .unwrap();
    case.lease();
    case.complete().unwrap();
    let again = case.act(|execution, context| replay(execution, &command, &past, context));
    assert_eq!(code(again), Code::MaxReplaysExhausted);
}

#[test]
fn an_ended_execution_is_kept_as_long_as_its_policy_says() {
    for (json, kept) in [
        (json!({}), Some(Duration::from_hours(24))),
        (json!({"retention_ms": 5000}), Some(seconds(5))),
        (json!({"retention_ms": "never"}), None),
    ] {
        let mut case = Case::with_policy(&json).leased();
        case.complete().unwrap();
        let delete_at = kept.map(|kept| START + kept);
        assert_eq!(case.execution().outcome().unwrap().delete_at, delete_at);
        assert_eq!(case.due_at(), delete_at);
    }
}

#[test]
fn a_member_is_kept_as_long_as_its_flow() {
    let mut case = Case::member().leased();
    case.complete().unwrap();
    assert_eq!(case.execution().outcome().unwrap().delete_at, None);
}

#[test]
fn an_execution_whose_retention_is_over_is_being_deleted() {
    let mut case = Case::with_policy(&json!({"retention_ms": 5000})).leased();
    case.complete().unwrap();
    case.pass_and_pump(Duration::from_millis(4_999));
    assert!(!case.execution().is_deleting());
    case.pass_and_pump(Duration::from_millis(1));
    assert!(case.execution().is_deleting());
    assert_eq!(case.happened().last(), Some(&"deleting"));
    assert_eq!(code(case.cancel(None)), Code::ExecutionNotFound);
    assert_eq!(case.due_at(), Some(START), "it is due until it is gone");
}
