//! Being asked to stop.

use ff_core::record::{CancelSource, OutcomeKind};
use ff_core::state::PublicState;
use ff_core::time::Duration;

use crate::leases::MILLISECOND;
use crate::running::{Case, MINUTE, SECOND, seconds};
use crate::support::START;

#[test]
fn a_stop_request_reaches_the_worker_at_its_next_renewal() {
    let mut case = Case::new().leased();
    assert!(case.request_stop());
    let stop = case.renew().unwrap().stop_requested.unwrap();
    assert_eq!(
        (stop.reason.as_str(), stop.cancel_at),
        ("budget is spent", START + seconds(30))
    );
    case.pass(SECOND);
    assert!(!case.request_stop(), "the first one counts");
    assert!(case.draft.is_empty());
    assert_eq!(case.renew().unwrap().stop_requested, Some(stop));
}

#[test]
fn a_stop_request_that_is_not_followed_cancels_after_30_seconds() {
    let mut case = Case::new().leased();
    case.request_stop();
    case.pass_and_pump(Duration::from_millis(29_999));
    assert_eq!(case.state(), PublicState::Active);
    case.pass_and_pump(MILLISECOND);
    let outcome = case.execution().outcome().cloned().unwrap();
    assert_eq!(
        (outcome.kind, outcome.cancel_source),
        (OutcomeKind::Cancelled, Some(CancelSource::SystemTimeout))
    );
    assert_eq!(outcome.reason.as_deref(), Some("budget is spent"));
    assert_eq!(case.happened(), ["stop_requested", "cancelled"]);
}

#[test]
fn a_stop_request_ends_with_the_lease_it_was_made_to() {
    let mut case = Case::new().leased();
    case.request_stop();
    case.release().unwrap();
    case.pass_and_pump(MINUTE);
    assert_eq!(case.state(), PublicState::Waiting);
    assert!(!case.request_stop(), "nobody runs it");
    case.claim();
    assert_eq!(case.lease_record().stop(), None);
}

#[test]
fn a_withdrawn_stop_request_cancels_nothing() {
    let mut case = Case::new().leased();
    assert!(!case.withdraw_stop(1, 9), "nobody asked");
    assert!(case.draft.is_empty());
    case.renew_for(Some(MINUTE)).unwrap();
    case.request_stop();
    assert!(case.withdraw_stop(1, 1));
    assert_eq!(case.happened(), ["stop_requested", "stop_withdrawn"]);
    assert!(!case.withdraw_stop(1, 1), "once");
    case.pass_and_pump(seconds(40));
    assert_eq!(case.state(), PublicState::Active);
}

#[test]
fn a_budget_withdraws_its_own_requests_up_to_the_breach_that_is_over() {
    let mut case = Case::new().leased();
    case.stop_by(1, 5);
    case.pass(SECOND);
    case.stop_by(2, 3);
    assert!(!case.withdraw_stop(1, 4), "of an earlier breach");
    assert!(case.withdraw_stop(1, 5));
    let stop = case.lease_record().stop().cloned().unwrap();
    assert_eq!(stop.cancel_at, START + seconds(31), "what the other budget gave it");
}

#[test]
fn a_later_breach_gives_its_own_30_seconds() {
    let mut case = Case::new().leased();
    case.stop_by(1, 1);
    case.pass(SECOND);
    assert!(case.stop_by(1, 2));
    assert!(!case.stop_by(1, 1), "an order that is over");
    let stops = case.lease_record().stops;
    assert_eq!((stops.len(), stops[0].request.cancel_at), (1, START + seconds(31)));
}
