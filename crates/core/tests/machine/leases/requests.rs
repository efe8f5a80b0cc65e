//! The requests a record remembers.

use ff_core::command::operator::{RevokeLease, Revoked};
use ff_core::machine::operator;
use ff_core::name::RequestId;
use ff_core::record::{RequestLog, RequestOutcome};

use crate::running::Case;

fn request(text: &str) -> Option<RequestId> {
    Some(RequestId::parse(text).unwrap())
}

const fn revoked(lease_epoch: u64) -> RequestOutcome {
    RequestOutcome::Revoked { lease_epoch }
}

#[test]
fn a_record_remembers_the_last_16_requests_of_an_operation() {
    let ids: Vec<_> = (0..17).map(|n| request(&format!("r{n}"))).collect();
    let mut log = RequestLog::default();
    for id in &ids[..16] {
        log.remember(id.as_ref(), revoked(1));
    }
    assert!(ids[..16].iter().all(|id| log.find(id.as_ref()).count() == 1));
    log.remember(ids[16].as_ref(), revoked(2));
    assert_eq!(log.find(ids[0].as_ref()).next(), None, "the oldest is forgotten");
    assert_eq!(log.find(ids[1].as_ref()).next(), Some(&revoked(1)));
    assert_eq!(log.find(ids[16].as_ref()).next(), Some(&revoked(2)));
    let before = log.clone();
    log.remember(None, revoked(3));
    assert_eq!(log.find(None).next(), None);
    assert_eq!(log, before);
}

#[test]
fn no_operation_makes_another_be_forgotten() {
    let mut log = RequestLog::default();
    log.remember(request("mine").as_ref(), revoked(1));
    for n in 0..40 {
        log.remember(request(&format!("r{n}")).as_ref(), RequestOutcome::Replayed);
    }
    assert!(log.remembers(request("mine").as_ref(), &revoked(1)));
    assert!(!log.remembers(request("r23").as_ref(), &RequestOutcome::Replayed));
    assert!(log.remembers(request("r24").as_ref(), &RequestOutcome::Replayed));
}

#[test]
fn one_request_id_used_for_two_operations_is_remembered_for_both() {
    let mut log = RequestLog::default();
    let id = request("again");
    log.remember(id.as_ref(), revoked(1));
    log.remember(id.as_ref(), RequestOutcome::Replayed);
    for outcome in [revoked(1), RequestOutcome::Replayed] {
        assert!(log.remembers(id.as_ref(), &outcome), "{outcome:?}");
    }
    assert!(!log.remembers(None, &revoked(1)), "no id is no request");
}

#[test]
fn a_repeated_revocation_is_answered_for_the_lease_it_took() {
    let mut case = Case::new().leased();
    let revoke = |expected_lease_epoch| RevokeLease {
        reason: None,
        expected_lease_epoch,
        request_id: request("r"),
    };
    let send = |case: &mut Case, command: RevokeLease| {
        case.act(|execution, context| operator::revoke_lease(execution, &command, context))
            .unwrap()
    };
    assert_eq!(send(&mut case, revoke(None)), Revoked::Now);
    let mut case = case.leased();
    for again in [None, Some(1)] {
        assert_eq!(send(&mut case, revoke(again)), Revoked::Now);
        assert!(case.execution().lease().is_some(), "{again:?}: another lease");
    }
    assert_eq!(send(&mut case, revoke(Some(2))), Revoked::Now);
    assert!(case.execution().lease().is_none(), "this one was named");
}
