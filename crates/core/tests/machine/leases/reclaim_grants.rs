//! How an operator promises a lost execution to one worker.

use ff_core::capability::CapabilitySet;
use ff_core::command::operator::IssueReclaimGrant;
use ff_core::command::submit::CreateExecution;
use ff_core::error::{Code, Rejection};
use ff_core::id::GrantId;
use ff_core::machine::claim::{self, Redeemed};
use ff_core::machine::operator;
use ff_core::machine::operator::ReclaimGrant;
use ff_core::record::{AttemptKind, GateState, Happening, RecordKey};
use ff_core::state::PublicState;
use serde_json::json;

use crate::leases::MILLISECOND;
use crate::running::{Case, HOUR, MINUTE, Move, budget_id, code, policy, seconds};
use crate::support::{LEASE_TTL, submission};

fn reclaim_grant() -> IssueReclaimGrant {
    IssueReclaimGrant {
        worker: "heir".parse().unwrap(),
        instance: "heir-1".parse().unwrap(),
        capabilities: CapabilitySet::default(),
        grant_ttl: Some(seconds(9)),
    }
}

fn issue(case: &mut Case, command: &IssueReclaimGrant) -> Result<ReclaimGrant, Rejection> {
    let grant_id = GrantId::from_uuid(case.store.mint());
    case.act(|execution, context| operator::issue_reclaim_grant(execution, command, grant_id, context))
}

#[test]
fn a_reclaim_grant_promises_a_lost_execution_to_one_worker() {
    let mut case = Case::new().leased();
    case.revoke(None).unwrap();
    let command = reclaim_grant();
    let expires_at = case.now() + seconds(9);
    let issued = issue(&mut case, &command).unwrap();
    let grant = case.execution().grant().cloned().unwrap();
    let (grant_id, admitted) = (grant.id, true);
    let as_granted = ReclaimGrant::Issued {
        grant_id,
        expires_at,
        admitted,
    };
    assert_eq!(issued, as_granted);
    assert_eq!((&grant.worker, &grant.instance), (&command.worker, &command.instance));
    assert!(grant.reclaim && grant.admitted && grant.expires_at == expires_at);
    let line = case.history.pop().unwrap();
    assert_eq!(
        (line.what, line.detail.as_deref()),
        (Happening::Granted, Some("to heir as a reclaim"))
    );
    let mut claimant = case.store.claimant().unwrap();
    claimant.worker = command.worker;
    claimant.instance = command.instance;
    claimant.grant_id = grant_id;
    let redeemed = case.act(|execution, context| claim::claim_from_grant(execution, &claimant, context));
    assert_eq!(redeemed, Ok(Redeemed::Now));
    assert_eq!((case.attempt().index, case.attempt().kind), (1, AttemptKind::Reclaim));
}

#[test]
fn a_reclaim_grant_that_budgets_must_admit_says_so() {
    let mut case = Case::with_policy(&json!({"budget_ids": [budget_id(1)]})).leased();
    case.revoke(None).unwrap();
    let command = reclaim_grant();
    let issued = issue(&mut case, &command).unwrap();
    assert!(matches!(issued, ReclaimGrant::Issued { admitted: false, .. }));
    assert!(!case.execution().grant().unwrap().admitted);
}

#[test]
fn a_reclaim_grant_ends_the_grace_of_an_expired_lease() {
    let mut case = Case::new().leased();
    case.store.settings.reclaim_grace = HOUR;
    case.pass_and_pump(LEASE_TTL);
    let command = reclaim_grant();
    assert!(issue(&mut case, &command).is_ok());
    assert_eq!(case.execution().counts.reclaims, 1);
    assert_eq!(case.archived().len(), 1);
}

#[test]
fn a_reclaim_grant_is_refused_when_the_execution_was_lost_too_often() {
    let mut case = Case::with_policy(&json!({"max_reclaim_count": 0})).leased();
    case.store.settings.reclaim_grace = HOUR;
    case.pass_and_pump(LEASE_TTL);
    let command = reclaim_grant();
    assert_eq!(code(issue(&mut case, &command)), Code::MaxReclaimsExceeded);
}

#[test]
fn only_what_waits_for_another_worker_is_reclaimed() {
    let elsewhere: [Move; 6] = [
        |_| {},
        |case| case.lease(),
        |case| {
            case.lease();
            case.release().unwrap();
        },
        |case| {
            case.lease();
            case.complete().unwrap();
        },
        |case| {
            case.lease();
            case.revoke(None).unwrap();
            case.grant();
        },
        |case| {
            // It waits for the same attempt to go on, which is a reclaim itself.
            case.lease();
            case.revoke(None).unwrap();
            case.lease();
            case.release().unwrap();
        },
    ];
    for (index, reach) in elsewhere.into_iter().enumerate() {
        let mut case = Case::new();
        reach(&mut case);
        let command = reclaim_grant();
        assert_eq!(
            code(issue(&mut case, &command)),
            Code::ExecutionNotReclaimable,
            "{index}"
        );
    }
}

#[test]
fn what_may_not_be_handed_out_is_not_granted_either() {
    let mut case = Case::new().leased();
    case.hold();
    case.revoke(None).unwrap();
    let command = reclaim_grant();
    assert_eq!(code(issue(&mut case, &command)), Code::ExecutionNotEligible);
    case.act(operator::unhold).unwrap();
    assert!(issue(&mut case, &command).is_ok());
}

#[test]
fn a_reclaim_grant_needs_a_worker_that_offers_enough_and_a_grant_time_in_bounds() {
    let command = CreateExecution {
        policy: policy(&json!({"routing_requirements": {"required_capabilities": ["gpu", "eu"]}})),
        ..submission().unwrap()
    };
    let mut case = Case::submitted(&command).leased();
    case.revoke(None).unwrap();
    let mut command = reclaim_grant();
    command.capabilities = CapabilitySet::parse(["gpu"]).unwrap();
    assert_eq!(code(issue(&mut case, &command)), Code::CapabilityMismatch);
    command.capabilities = CapabilitySet::parse(["eu", "gpu", "more"]).unwrap();
    command.grant_ttl = Some(MINUTE + MILLISECOND);
    assert_eq!(code(issue(&mut case, &command)), Code::InvalidInput);
    command.grant_ttl = Some(MINUTE);
    assert!(issue(&mut case, &command).is_ok());
}

#[test]
fn a_repeated_reclaim_grant_is_the_same_while_it_is_open_and_a_new_one_afterwards() {
    let mut case = Case::with_quota().leased();
    case.revoke(None).unwrap();
    let command = reclaim_grant();
    let first = issue(&mut case, &command).unwrap();
    case.pass(MILLISECOND);
    assert_eq!(issue(&mut case, &command), Ok(first));
    assert!(case.draft.is_empty());
    let another = IssueReclaimGrant {
        instance: "heir-2".parse().unwrap(),
        ..command.clone()
    };
    assert_eq!(code(issue(&mut case, &another)), Code::ExecutionNotReclaimable);
    case.pass(MINUTE);
    let next = issue(&mut case, &command).unwrap();
    let id_of = |issued| match issued {
        ReclaimGrant::Issued { grant_id, .. } => grant_id,
        ReclaimGrant::FlowCancelled => panic!("no flow is cancelled"),
    };
    assert_ne!(
        id_of(next),
        id_of(first),
        "the slot of the first is given back under its own id"
    );
}

#[test]
fn a_reclaim_grant_for_a_member_guards_on_its_gate_and_stops_at_a_cancelled_one() {
    let mut case = Case::member().leased();
    case.revoke(None).unwrap();
    let command = reclaim_grant();
    issue(&mut case, &command).unwrap();
    let gate = RecordKey::Gate(case.execution().definition.flow.unwrap());
    assert_eq!(case.draft.guards, std::slice::from_ref(&gate));
    let mut case = Case::member().leased();
    case.store.settings.reclaim_grace = HOUR;
    case.pass_and_pump(LEASE_TTL);
    issue(&mut case, &command).unwrap();
    assert_eq!(case.draft.guards, [gate], "reclaimed and granted at once, guarded once");
    let mut case = Case::member().leased();
    case.revoke(None).unwrap();
    case.set_gate(GateState::Cancelled);
    assert_eq!(issue(&mut case, &command), Ok(ReclaimGrant::FlowCancelled));
    assert_eq!(case.state(), PublicState::Cancelled);
}

#[test]
fn a_reclaim_grant_in_the_grace_of_a_member_whose_flow_was_cancelled_cancels_it() {
    let mut case = Case::member().leased();
    case.store.settings.reclaim_grace = HOUR;
    case.pass_and_pump(LEASE_TTL);
    case.set_gate(GateState::Cancelled);
    let command = reclaim_grant();
    assert_eq!(issue(&mut case, &command), Ok(ReclaimGrant::FlowCancelled));
    assert_eq!(case.state(), PublicState::Cancelled);
}
