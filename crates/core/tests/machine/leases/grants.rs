//! What a reservation stamps, and how a grant is redeemed.

use ff_core::error::Code;
use ff_core::machine::claim;
use ff_core::machine::claim::{Admitted, Claimant, HandOut, HandedOut, Redeemed, Refusal, Surroundings, hand_out};
use ff_core::record::{Actor, Cause, CounterKey, FlowCounter, GateState, Happening};
use ff_core::state::PublicState;
use ff_core::time::Duration;
use serde_json::json;

use crate::running::{Case, MINUTE, SECOND, budget_id, code, quota_id, seconds};
use crate::support::{LEASE_TTL, START};

#[test]
fn a_reservation_promises_for_as_long_as_asked_and_to_whom() {
    let mut case = Case::new();
    let claimant = case.grant();
    let grant = case.execution().grant().cloned().unwrap();
    assert_eq!((grant.id, grant.expires_at), (claimant.grant_id, START + seconds(5)));
    assert_eq!((grant.worker, grant.instance), (claimant.worker, claimant.instance));
    assert!(grant.admitted && !grant.reclaim);
    assert_eq!(case.due_at(), Some(START + seconds(5)));
}

#[test]
fn what_budgets_or_quota_must_admit_is_only_promised() {
    for json in [
        json!({"budget_ids": [budget_id(1)]}),
        json!({"quota_policy_id": quota_id()}),
    ] {
        let mut case = Case::with_policy(&json);
        let claimant = case.store.claimant().unwrap();
        let handed_out = case.store.reserve(case.id, &claimant, HandOut::Lease);
        assert_eq!(handed_out, Some(HandedOut::Granted));
        assert!(!case.execution().grant().unwrap().admitted);
        let redeemed = case.act(|execution, context| claim::claim_from_grant(execution, &claimant, context));
        assert_eq!(code(redeemed), Code::InvalidClaimGrant);
    }
}

#[test]
fn a_member_is_leased_at_once_only_through_an_open_gate() {
    let mut case = Case::member();
    let claimant = case.store.claimant().unwrap();
    for (gate, leased) in [
        (GateState::Open, true),
        (GateState::Sealed, true),
        (GateState::Assembling, false),
        (GateState::Cancelled, false),
    ] {
        let surroundings = Surroundings {
            now: START,
            gate: Some(gate),
        };
        let reserved = hand_out(&case.execution(), &claimant, HandOut::Lease, surroundings);
        assert_eq!(reserved.handed_out == HandedOut::Leased, leased, "{gate:?}");
        assert_eq!(
            reserved.history.is_some(),
            leased,
            "a bare reservation promises nothing yet"
        );
        assert_eq!(reserved.increments.is_empty(), !leased);
    }
}

#[test]
fn a_lease_handed_out_at_once_moves_the_counters_and_writes_a_line() {
    let mut case = Case::member();
    let claimant = case.store.claimant().unwrap();
    let surroundings = Surroundings {
        now: START + SECOND,
        gate: Some(GateState::Open),
    };
    let reserved = hand_out(&case.execution(), &claimant, HandOut::Lease, surroundings);
    let flow = case.execution().definition.flow.unwrap();
    let state = |state| CounterKey::Flow(flow, FlowCounter::State(state));
    assert_eq!(
        reserved.increments,
        [(state(PublicState::Waiting), -1), (state(PublicState::Active), 1)]
    );
    let line = reserved.history.unwrap();
    assert_eq!((line.what, line.at), (Happening::Claimed, START + SECOND));
    assert_eq!(line.actor, Actor::Worker(claimant.instance));
    assert_eq!((line.attempt_index, line.lease_epoch), (Some(0), Some(1)));
    assert_eq!(reserved.execution.updated_at, START + SECOND);
}

#[test]
fn a_reservation_under_a_clock_that_went_back_counts_from_the_last_write() {
    let mut case = Case::new();
    let claimant = case.store.claimant().unwrap();
    let surroundings = Surroundings {
        now: START - MINUTE,
        gate: None,
    };
    let reserved = hand_out(&case.execution(), &claimant, HandOut::Lease, surroundings);
    assert_eq!(reserved.execution.lease().unwrap().acquired_at, START);
}

#[test]
fn a_grant_is_redeemed_once_and_only_by_its_holder() {
    let mut case = Case::new();
    let claimant = case.grant();
    let mut of_other_worker = claimant.clone();
    of_other_worker.worker = "other".parse().unwrap();
    let mut other = claimant.clone();
    other.instance = "other-7".parse().unwrap();
    for thief in [&of_other_worker, &other] {
        let stolen = case.act(|execution, context| claim::claim_from_grant(execution, thief, context));
        assert_eq!(code(stolen), Code::InvalidClaimGrant);
    }
    for redeemed in [Redeemed::Now, Redeemed::Already] {
        let answer = case.act(|execution, context| claim::claim_from_grant(execution, &claimant, context));
        assert_eq!(answer, Ok(redeemed));
    }
    assert!(case.draft.is_empty());
    let stolen = case.act(|execution, context| claim::claim_from_grant(execution, &other, context));
    assert_eq!(code(stolen), Code::InvalidClaimGrant);
    case.release().unwrap();
    let late = case.act(|execution, context| claim::claim_from_grant(execution, &claimant, context));
    assert_eq!(code(late), Code::InvalidClaimGrant);
}

#[test]
fn a_claim_decided_again_finds_what_it_took_although_somebody_else_has_written_since() {
    let mut case = Case::with_quota();
    let claimant = case.store.claimant().unwrap();
    case.store.reserve(case.id, &claimant, HandOut::Lease).unwrap();
    for first in [true, false] {
        let answer = case.act(|execution, context| claim::lease(execution, &claimant, context));
        assert_eq!(answer, Ok(Admitted::Yes));
        assert_eq!(case.draft.is_empty(), !first);
        case.hold();
    }
    assert_eq!(case.lease_record().grant, Some(claimant.grant_id));
}

#[test]
fn a_reservation_is_admitted_once() {
    let mut case = Case::with_quota();
    let claimant = case.grant();
    for first in [true, false] {
        let answer = case.act(|execution, context| claim::admit(execution, claimant.grant_id, context));
        assert_eq!(answer, Ok(Admitted::Yes));
        assert_eq!(case.draft.is_empty(), !first);
    }
}

#[test]
fn a_grant_is_its_holders_until_the_moment_it_expires() {
    for (wait, refused) in [
        (Duration::from_millis(4_999), None),
        (seconds(5), Some(Code::ClaimGrantExpired)),
    ] {
        let mut case = Case::new();
        let claimant = case.grant();
        case.pass(wait);
        let answer = case.act(|execution, context| claim::claim_from_grant(execution, &claimant, context));
        assert_eq!(answer.err().map(|rejection| rejection.code), refused);
    }
}

#[test]
fn a_redeemed_grant_whose_lease_ran_out_is_not_redeemed_again() {
    let mut case = Case::new();
    let claimant = case.grant();
    case.store.settings.reclaim_grace = MINUTE;
    for (wait, refused) in [(Duration::ZERO, None), (LEASE_TTL, Some(Code::InvalidClaimGrant))] {
        case.pass(wait);
        let answer = case.act(|execution, context| claim::claim_from_grant(execution, &claimant, context));
        assert_eq!(answer.err().map(|rejection| rejection.code), refused);
    }
}

#[test]
fn a_grant_of_a_member_whose_flow_was_cancelled_cancels_it_instead() {
    let redeem: [fn(&mut Case, &Claimant) -> bool; 4] = [
        |case, claimant| {
            case.act(|execution, context| claim::claim_from_grant(execution, claimant, context))
                == Ok(Redeemed::FlowCancelled)
        },
        |case, claimant| {
            case.act(|execution, context| claim::lease(execution, claimant, context)) == Ok(Admitted::FlowCancelled)
        },
        |case, claimant| {
            case.act(|execution, context| claim::admit(execution, claimant.grant_id, context))
                == Ok(Admitted::FlowCancelled)
        },
        |case, claimant| {
            let refusal = Refusal {
                cause: Cause::Budget(budget_id(1)),
                detail: "spent".to_owned(),
                generation: 1,
            };
            case.act(|execution, context| claim::block(execution, claimant.grant_id, &refusal, context))
                == Ok(Admitted::FlowCancelled)
        },
    ];
    for redeem in redeem {
        let mut case = Case::member();
        let claimant = case.grant();
        case.set_gate(GateState::Cancelled);
        assert!(redeem(&mut case, &claimant));
        assert_eq!(case.state(), PublicState::Cancelled);
        assert_eq!(case.draft.guards.len(), 1);
    }
}
