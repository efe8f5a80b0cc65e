//! What operators and clients do to one execution, and what it leaves behind: cancel, revoke, priority, hold and tags.

use crate::running::{Case, HOUR, MINUTE, Move, SECOND, budget_id, code, seconds};
use crate::support::{LEASE_TTL, START};
use ff_core::command::operator::{
    CancelExecution, Cancelled, ChangePriority, Changed, HoldExecution, RevokeLease, Revoked, SetTags,
};
use ff_core::error::{Code, Rejection};
use ff_core::id::WaitpointId;
use ff_core::machine::claim::{self, Refusal};
use ff_core::machine::operator;
use ff_core::machine::placement::{Placement, placement, score};
use ff_core::name::RequestId;
use ff_core::record::{
    AttemptKind, CancelSource, Cause, Dependencies, EdgeGroupPolicy, Fence, GateState, Happening, LeaseEnd,
    OutcomeKind, PendingWaitpoint, Tags, WaitpointRef,
};
use ff_core::state::{OwnershipState, PublicState, state_vector};
use serde_json::json;
use uuid::Uuid;

fn revocation(request_id: &str) -> RevokeLease {
    RevokeLease {
        reason: Some("stuck".to_owned()),
        expected_lease_epoch: None,
        request_id: Some(RequestId::parse(request_id).unwrap()),
    }
}

fn prioritise(case: &mut Case, priority: u16) -> Result<Changed, Rejection> {
    case.act(|execution, context| operator::change_priority(execution, &ChangePriority { priority }, context))
}

fn unhold(case: &mut Case) -> Result<Changed, Rejection> {
    case.act(operator::unhold)
}

fn tag(case: &mut Case, key: &str) -> Result<Changed, Rejection> {
    let tags = Tags::from([(key.to_owned(), "v".to_owned())]);
    case.act(|execution, context| operator::set_tags(execution, &SetTags { tags }, context))
}

// Cancel.

#[test]
fn who_cancelled_follows_from_how_it_was_asked() {
    let cancel: [(Move, CancelSource); 4] = [
        (|case| _ = case.cancel(None).unwrap(), CancelSource::OperatorOverride),
        (
            |case| {
                let fence = Some(case.fence());
                case.cancel(fence).unwrap();
            },
            CancelSource::LeaseHolder,
        ),
        (
            |case| {
                let cascade =
                    |execution: &_, context: &_| Ok(operator::cancel_by_cascade(execution, "no more", context));
                assert_eq!(case.act(cascade), Ok(Cancelled::Now));
            },
            CancelSource::FlowCascade,
        ),
        (
            |case| {
                case.request_stop();
                case.pass_and_pump(seconds(30));
            },
            CancelSource::SystemTimeout,
        ),
    ];
    for (cancel, source) in cancel {
        let mut case = Case::new().leased();
        cancel(&mut case);
        let outcome = case.execution().outcome().cloned().unwrap();
        assert_eq!(
            (outcome.kind, outcome.cancel_source),
            (OutcomeKind::Cancelled, Some(source))
        );
        assert_eq!(outcome.at, case.now());
    }
}

#[test]
fn a_cancellation_keeps_its_reason_and_says_it_in_the_history() {
    let mut case = Case::new();
    case.cancel(None).unwrap();
    assert_eq!(case.execution().outcome().unwrap().reason.as_deref(), Some("no more"));
    let line = case.history.pop().unwrap();
    assert_eq!(
        (line.what, line.detail.as_deref()),
        (Happening::Cancelled, Some("no more"))
    );
}

#[test]
fn a_second_cancellation_changes_nothing() {
    let mut case = Case::new().leased();
    let fence = case.fence();
    case.cancel(None).unwrap();
    for again in [None, Some(fence)] {
        assert_eq!(case.cancel(again), Ok(Cancelled::Already));
        assert!(case.draft.is_empty());
    }
    let other = Fence {
        lease_epoch: 9,
        ..fence
    };
    assert_eq!(code(case.cancel(Some(other))), Code::StaleLease);
    let cascade = |execution: &_, context: &_| Ok(operator::cancel_by_cascade(execution, "x", context));
    assert_eq!(case.act(cascade), Ok(Cancelled::Already));
}

#[test]
fn what_ended_otherwise_says_how_when_it_is_cancelled() {
    let mut case = Case::new().leased();
    case.complete().unwrap();
    let refused = case.cancel(None).unwrap_err();
    assert_eq!(refused.code, Code::ExecutionNotActive);
    assert_eq!(refused.fields["terminal_outcome"], json!("success"));
    assert!(refused.detail.contains("completed"), "{}", refused.detail);
    let cascade = |execution: &_, context: &_| Ok(operator::cancel_by_cascade(execution, "x", context));
    assert_eq!(case.act(cascade), Ok(Cancelled::Already));
    assert_eq!(case.state(), PublicState::Completed);
}

#[test]
fn an_end_clears_what_only_the_living_have() {
    let mut case = Case::new();
    case.hold();
    case.cancel(None).unwrap();
    let execution = case.execution();
    assert!(execution.hold.is_none() && execution.resumed.is_none() && execution.pending_waitpoints.is_empty());
    let mut case = Case::new().leased();
    case.suspend();
    case.resume();
    assert!(case.execution().resumed.is_some());
    case.cancel(None).unwrap();
    assert!(case.execution().resumed.is_none());
}

#[test]
fn a_member_that_never_opened_is_not_held_back_once_it_has_ended() {
    let case = Case::member();
    let mut execution = case.execution();
    execution.unopened = true;
    execution.follow_ups.reopen_edges = true;
    execution.dependencies = Some(Dependencies {
        policy: EdgeGroupPolicy::default(),
        fixed: true,
        waiting: true,
        unsatisfied: 1,
        no_results: true,
    });
    execution.pending_waitpoints = vec![pending_waitpoint()];
    let decided = operator::cancel_by_cascade(&execution, "sibling", &case.context());
    let ended = decided.draft.execution(case.id).unwrap();
    assert!(!ended.waits_for_dependencies() && ended.pending_waitpoints.is_empty());
    assert!(ended.follow_ups.resolve_edges && !ended.follow_ups.reopen_edges);
}

fn pending_waitpoint() -> PendingWaitpoint {
    PendingWaitpoint {
        waitpoint: WaitpointRef {
            id: WaitpointId::from_uuid(Uuid::from_u128(5)),
            key: "k".parse().unwrap(),
            created_at: START,
        },
        expires_at: START + HOUR,
    }
}

#[test]
fn reasons_have_at_most_4_kib() {
    let long = "r".repeat(4_097);
    let mut case = Case::new().leased();
    let cancel = CancelExecution {
        reason: long.clone(),
        fence: None,
    };
    let hold = HoldExecution {
        reason: Some(long.clone()),
    };
    let revoke = RevokeLease {
        reason: Some(long),
        ..revocation("r")
    };
    let refusals = [
        code(case.act(|execution, context| operator::cancel(execution, &cancel, context))),
        code(case.act(|execution, context| operator::hold(execution, &hold, context))),
        code(case.act(|execution, context| operator::revoke_lease(execution, &revoke, context))),
    ];
    assert_eq!(refusals, [Code::InvalidInput; 3]);
    let longest = HoldExecution {
        reason: Some("r".repeat(4_096)),
    };
    assert!(
        case.act(|execution, context| operator::hold(execution, &longest, context))
            .is_ok()
    );
}

// Revoke.

#[test]
fn a_revoked_lease_counts_as_a_reclaim_at_once_and_shows_until_the_next_claim() {
    let mut case = Case::new().leased();
    case.store.settings.reclaim_grace = HOUR;
    case.pass(SECOND);
    let revoke = |execution: &_, context: &_| operator::revoke_lease(execution, &revocation("r"), context);
    assert_eq!(case.act(revoke), Ok(Revoked::Now));
    let execution = case.execution();
    assert_eq!((case.state(), execution.counts.reclaims), (PublicState::Waiting, 1));
    assert_eq!(execution.ended_lease.as_ref().unwrap().end, LeaseEnd::Revoked);
    assert_eq!(state_vector(&execution).ownership_state, OwnershipState::LeaseRevoked);
    assert_eq!(case.attempt().leased, SECOND);
    assert_eq!(case.happened(), ["lease_revoked", "reclaimable"]);
    assert_eq!(case.history[0].detail.as_deref(), Some("stuck"));
    case.claim();
    assert_eq!(state_vector(&case.execution()).ownership_state, OwnershipState::Leased);
    assert_eq!((case.attempt().index, case.attempt().kind), (1, AttemptKind::Reclaim));
}

#[test]
fn a_lease_lost_by_time_is_not_shown_as_revoked() {
    let mut case = Case::new().leased();
    case.pass_and_pump(LEASE_TTL);
    assert_eq!(state_vector(&case.execution()).ownership_state, OwnershipState::Unowned);
}

#[test]
fn only_the_lease_that_was_meant_is_revoked() {
    let mut case = Case::new().leased();
    case.release().unwrap();
    case.lease();
    assert_eq!(case.revoke(Some(1)), Ok(Revoked::AlreadySatisfied), "that one is gone");
    assert!(case.draft.is_empty());
    assert_eq!(code(case.revoke(Some(3))), Code::StaleLease, "that one never was");
    assert_eq!(case.revoke(Some(2)), Ok(Revoked::Now));
    assert_eq!(case.revoke(Some(2)), Ok(Revoked::AlreadySatisfied));
    assert_eq!(case.revoke(None), Ok(Revoked::AlreadySatisfied), "revoked before");
    assert_eq!(case.execution().counts.reclaims, 1);
}

#[test]
fn without_a_lease_there_is_none_to_revoke_unless_it_is_gone_already() {
    let mut case = Case::new();
    assert_eq!(code(case.revoke(None)), Code::NoActiveLease);
    assert_eq!(code(case.revoke(Some(1))), Code::NoActiveLease);
    case.lease();
    case.release().unwrap();
    assert_eq!(case.revoke(Some(1)), Ok(Revoked::AlreadySatisfied));
    assert_eq!(code(case.revoke(Some(2))), Code::NoActiveLease);
    assert_eq!(code(case.revoke(None)), Code::NoActiveLease);
}

#[test]
fn a_repeated_revocation_does_not_take_the_next_lease() {
    let mut case = Case::new().leased();
    let revoke = |request_id: &'static str| {
        move |execution: &_, context: &_| operator::revoke_lease(execution, &revocation(request_id), context)
    };
    case.act(revoke("r")).unwrap();
    case.lease();
    assert_eq!(case.act(revoke("r")), Ok(Revoked::Now), "its first answer");
    assert!(case.draft.is_empty());
    assert_eq!(case.state(), PublicState::Active);
    assert_eq!(case.act(revoke("another")), Ok(Revoked::Now));
    assert_eq!(case.state(), PublicState::Waiting);
}

#[test]
fn a_member_of_a_cancelled_flow_is_cancelled_with_its_lease() {
    let mut case = Case::member().leased();
    case.set_gate(GateState::Cancelled);
    assert_eq!(case.revoke(None), Ok(Revoked::Cancelled));
    let outcome = case.execution().outcome().cloned().unwrap();
    assert_eq!(outcome.cancel_source, Some(CancelSource::FlowCascade));
    assert_eq!(case.execution().counts.reclaims, 0);
}

// Priority, hold and tags.

#[test]
fn a_new_priority_moves_an_execution_without_making_it_younger() {
    let mut case = Case::new();
    case.pass(HOUR);
    assert_eq!(prioritise(&mut case, 7), Ok(Changed::Now));
    let score = score(&case.execution());
    assert_eq!((score.priority.0, score.created_at), (7, START));
    let line = case.history.pop().unwrap();
    assert_eq!(
        (line.what, line.detail.as_deref()),
        (Happening::PriorityChanged, Some("0 to 7"))
    );
    assert_eq!(prioritise(&mut case, 7), Ok(Changed::Already));
    assert!(case.draft.is_empty());
    assert_eq!(prioritise(&mut case, 9_000), Ok(Changed::Now));
    assert_eq!(code(prioritise(&mut case, 9_001)), Code::InvalidInput);
}

#[test]
fn a_new_priority_leaves_lease_and_grant_alone() {
    let mut case = Case::new();
    case.grant();
    let grant = case.execution().grant().cloned();
    prioritise(&mut case, 7).unwrap();
    assert_eq!(case.execution().grant().cloned(), grant);
    let mut case = Case::new().leased();
    prioritise(&mut case, 7).unwrap();
    assert!(case.complete().is_ok());
}

#[test]
fn a_hold_lets_a_running_attempt_go_on_and_keeps_what_it_leaves_back() {
    let mut case = Case::new().leased();
    case.pass(SECOND);
    case.hold();
    let hold = case.execution().hold.unwrap();
    assert_eq!(
        (hold.since, hold.reason.as_deref()),
        (START + SECOND, Some("look first"))
    );
    assert_eq!((case.state(), case.renew().is_ok()), (PublicState::Active, true));
    case.release().unwrap();
    assert_eq!(placement(&case.execution()), Placement::Nowhere);
    assert_eq!(unhold(&mut case), Ok(Changed::Now));
    assert!(matches!(placement(&case.execution()), Placement::Eligible { .. }));
    assert_eq!(case.happened(), ["held", "released", "unheld"]);
}

#[test]
fn a_second_hold_and_a_second_unhold_change_nothing() {
    let mut case = Case::new();
    case.hold();
    case.pass(SECOND);
    case.hold();
    assert!(case.draft.is_empty());
    assert_eq!(case.execution().hold.unwrap().since, START);
    unhold(&mut case).unwrap();
    assert_eq!(unhold(&mut case), Ok(Changed::Already));
    assert!(case.draft.is_empty());
}

#[test]
fn what_blocked_a_held_execution_is_looked_at_anew_when_it_is_let_go() {
    let refusal = Refusal {
        cause: Cause::Budget(budget_id(1)),
        detail: "spent".to_owned(),
        generation: 1,
    };
    let mut case = Case::new();
    case.act(|execution, context| claim::block_queued(execution, &refusal, context))
        .unwrap();
    case.hold();
    assert!(case.execution().runnable().unwrap().block.is_some());
    unhold(&mut case).unwrap();
    assert!(case.execution().runnable().unwrap().block.is_none());
}

#[test]
fn a_delay_runs_on_under_a_hold() {
    let mut case = Case::new().leased();
    case.delay(START + MINUTE).unwrap();
    case.hold();
    case.pass_and_pump(MINUTE);
    unhold(&mut case).unwrap();
    assert_eq!(case.state(), PublicState::Waiting);
    assert!(matches!(placement(&case.execution()), Placement::Eligible { .. }));
}

#[test]
fn tags_are_replaced_in_any_state_and_checked_like_those_of_a_submission() {
    let mut case = Case::new().leased();
    case.complete().unwrap();
    assert_eq!(tag(&mut case, "a"), Ok(Changed::Now));
    assert_eq!(tag(&mut case, "b"), Ok(Changed::Now));
    assert_eq!(case.execution().tags.keys().collect::<Vec<_>>(), ["b"]);
    assert_eq!(case.happened(), ["completed", "tags_changed", "tags_changed"]);
    assert_eq!(tag(&mut case, "b"), Ok(Changed::Already));
    assert!(case.draft.is_empty());
    assert_eq!(code(tag(&mut case, "Bad")), Code::InvalidTagKey);
}

#[test]
fn an_ended_execution_is_not_held_let_go_or_moved() {
    let mut case = Case::new().leased();
    case.complete().unwrap();
    let hold = HoldExecution { reason: None };
    let refusals = [
        code(case.act(|execution, context| operator::hold(execution, &hold, context))),
        code(unhold(&mut case)),
        code(prioritise(&mut case, 1)),
    ];
    assert_eq!(refusals, [Code::ExecutionNotActive; 3]);
}
