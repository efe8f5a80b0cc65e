//! The moment after which the store refuses a commit.

use ff_core::machine::claim;
use serde_json::{Value, json};

use crate::leases::work::progress;
use crate::running::{Case, HOUR, Move, SECOND, seconds};
use crate::support::{GRANT_TTL, LEASE_TTL, START};

#[test]
fn a_fenced_commit_is_bounded_by_whatever_comes_next() {
    let bound = |json: Value, stop: bool| {
        let mut case = Case::with_policy(&json).leased();
        if stop {
            case.request_stop();
        }
        case.pass(SECOND);
        case.renew().unwrap();
        case.draft.not_after
    };
    let attempt = json!({"timeout_policy": {"attempt_timeout_ms": 40000}});
    let deadline = json!({"timeout_policy": {"attempt_timeout_ms": 40000, "execution_deadline_ms": 35000}});
    assert_eq!(bound(json!({}), false), Some(START + LEASE_TTL));
    assert_eq!(bound(attempt, false), Some(START + seconds(40)));
    assert_eq!(bound(deadline.clone(), false), Some(START + seconds(35)));
    assert_eq!(bound(deadline, true), Some(START + seconds(30)));
}

#[test]
fn every_fenced_commit_is_bounded_by_the_lease_it_was_made_under() {
    let calls: [Move; 9] = [
        |case| drop(case.renew().unwrap()),
        |case| _ = case.release().unwrap(),
        |case| _ = case.delay(START + HOUR).unwrap(),
        |case| _ = case.complete().unwrap(),
        |case| _ = case.fail("transient").unwrap(),
        Case::suspend,
        |case| {
            let usage = case.usage();
            case.report(&usage).unwrap();
        },
        |case| progress(case, Some(1), None).unwrap(),
        |case| {
            let fence = Some(case.fence());
            case.cancel(fence).unwrap();
        },
    ];
    for (index, call) in calls.into_iter().enumerate() {
        let mut case = Case::new().leased();
        call(&mut case);
        assert_eq!(case.draft.not_after, Some(START + LEASE_TTL), "call {index}");
    }
}

#[test]
fn what_operators_and_time_do_is_bounded_by_no_lease() {
    let calls: [Move; 4] = [
        |case| _ = case.cancel(None).unwrap(),
        |case| _ = case.revoke(None).unwrap(),
        |case| case.hold(),
        |case| case.pass_and_pump(LEASE_TTL),
    ];
    for call in calls {
        let mut case = Case::new().leased();
        call(&mut case);
        assert_eq!(case.draft.not_after, None);
    }
}

#[test]
fn a_lease_commit_is_bounded_by_the_grant_it_redeems() {
    let mut case = Case::with_quota();
    let claimant = case.grant();
    case.pass(SECOND);
    case.act(|execution, context| claim::admit(execution, claimant.grant_id, context))
        .unwrap();
    assert_eq!(case.draft.not_after, Some(START + GRANT_TTL));
    assert!(case.execution().grant().unwrap().admitted);
    case.act(|execution, context| claim::lease(execution, &claimant, context))
        .unwrap();
    assert_eq!(case.draft.not_after, Some(START + GRANT_TTL));
    assert_eq!(case.happened(), ["granted", "claimed"]);
}

#[test]
fn a_lease_commit_is_bounded_by_a_deadline_before_the_grant_expires() {
    let mut case = Case::with_policy(&json!({"timeout_policy": {"execution_deadline_ms": 2000}}));
    let claimant = case.grant();
    case.act(|execution, context| claim::claim_from_grant(execution, &claimant, context))
        .unwrap();
    assert_eq!(case.draft.not_after, Some(START + seconds(2)));
}
