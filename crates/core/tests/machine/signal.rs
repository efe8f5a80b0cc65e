//! deliver_signal, approve, reject and resume_execution.

use crate::support::START;
use crate::waiting::{Case, MINUTE, code, idempotency_key, key, request, single};
use ff_core::command::signal::{Delivered, ResumeOutcome, Verdict};
use ff_core::command::suspend::Suspend;
use ff_core::error::Code;
use ff_core::id::SignalId;
use ff_core::keyring::{KeyRing, Secret};
use ff_core::machine::approval::approval;
use ff_core::machine::decided::Write;
use ff_core::machine::signal::authenticate;
use ff_core::machine::time;
use ff_core::machine::waitpoint::{claims, known};
use ff_core::name::{Identity, Kid};
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_core::record::{
    Actor, BlobKey, Delay, DelayReason, Distinct, GateState, ReasonCode, Record, ResumeCondition, ResumedBy,
    SignalEffect, TimeoutBehavior,
};
use ff_core::state::PublicState;
use ff_core::time::Duration;
use ff_core::token::WaitpointToken;

fn effect(delivered: &Delivered) -> SignalEffect {
    match delivered {
        Delivered::Accepted { effect, .. } => *effect,
        Delivered::Duplicate { .. } => panic!("{delivered:?}"),
    }
}

fn counting(n: u32, distinct: Distinct, waitpoints: &[&str]) -> ResumeCondition {
    ResumeCondition::Count {
        n,
        distinct,
        matcher: None,
        waitpoints: waitpoints.iter().map(|waitpoint| key(waitpoint)).collect(),
    }
}

fn writes_execution(case: &Case) -> bool {
    case.draft.execution(case.execution.id).is_some()
}

#[test]
fn the_signal_a_suspension_waits_for_resumes_it_at_its_old_place() {
    let mut case = Case::suspended();
    let before = ff_core::machine::placement::score(&case.execution);
    let command = case.signal_command("k", "go");
    let signal_id = command.signal_id.unwrap();
    assert_eq!(
        effect(&case.deliver(&command).unwrap()),
        SignalEffect::ResumeConditionSatisfied
    );
    assert_eq!(case.state(), PublicState::Resumable);
    assert_eq!(ff_core::machine::placement::score(&case.execution), before);
    let runnable = case.execution.runnable().unwrap();
    assert!(runnable.next_claim.resumed && runnable.next_claim.continues);
    let resumed = case.execution.resumed.as_ref().unwrap();
    assert_eq!((&resumed.signals, resumed.by), (&vec![signal_id], ResumedBy::Signals));
    let kept = case.signals().pop().unwrap();
    assert_eq!(kept.effect, SignalEffect::ResumeConditionSatisfied);
    assert_eq!(kept.payload_bytes, 5);
    let blob = (BlobKey::Signal(case.execution.id, signal_id), command.payload);
    assert_eq!(case.draft.blobs, [blob]);
}

#[test]
fn a_signal_the_condition_does_not_ask_for_is_kept_and_ignored() {
    let mut case = Case::suspended();
    assert_eq!(
        effect(&case.signal("k", "other").unwrap()),
        SignalEffect::IgnoredNotInCondition
    );
    assert_eq!(case.state(), PublicState::Suspended);
    assert_eq!(case.signals().len(), 1);
    assert!(case.suspension().matched.is_empty());
}

#[test]
fn signals_are_counted_until_there_are_enough() {
    let mut case = Case::leased();
    let command = case.suspend_command(&["a", "b"], counting(2, Distinct::Waitpoints, &["a", "b"]));
    case.suspend(&command).unwrap();
    let effects = ["a", "a", "b"].map(|waitpoint| effect(&case.signal(waitpoint, "vote").unwrap()));
    let appended = SignalEffect::AppendedToWaitpoint;
    assert_eq!(effects, [appended, appended, SignalEffect::ResumeConditionSatisfied]);
    assert_eq!(case.resumed_by().len(), 2, "the second vote at a did not count");
}

#[test]
fn a_resume_delay_keeps_the_execution_back_after_its_condition_holds() {
    let mut case = Case::suspended_with(|command| Suspend {
        resume_delay: MINUTE,
        ..command
    });
    case.signal("k", "go").unwrap();
    assert_eq!(case.state(), PublicState::Delayed);
    let delay = Delay {
        until: case.now() + MINUTE,
        reason: DelayReason::ResumeDelay,
    };
    assert_eq!(case.execution.runnable().unwrap().delay, Some(delay));
    case.pass(MINUTE);
    case.pump();
    assert_eq!(case.state(), PublicState::Resumable);
}

#[test]
fn a_signal_at_the_timeout_loses_to_it() {
    let timing_out = |command: Suspend| Suspend {
        timeout_at: Some(START + MINUTE),
        ..command
    };
    let mut case = Case::suspended_with(timing_out);
    case.pass(MINUTE);
    assert_eq!(code(case.signal("k", "go")), Code::TargetNotSignalable);
    let mut case = Case::suspended_with(|command| Suspend {
        timeout_behavior: Some(TimeoutBehavior::AutoResumeWithTimeoutSignal),
        ..timing_out(command)
    });
    case.pass(MINUTE);
    assert_eq!(code(case.signal("k", "go")), Code::WaitpointClosed);
    let mut case = Case::suspended_with(timing_out);
    case.pass(Duration::from_millis(59_999));
    case.signal("k", "go").unwrap();
    assert_eq!(
        case.draft.not_after,
        Some(START + MINUTE),
        "the store has the last word"
    );
}

#[test]
fn a_signal_after_an_escalation_is_not_bound_by_the_timeout_that_passed() {
    let mut case = Case::suspended_with(|command| Suspend {
        timeout_at: Some(START + MINUTE),
        timeout_behavior: Some(TimeoutBehavior::Escalate),
        ..command
    });
    case.pass(MINUTE);
    case.signal("k", "other").unwrap();
    assert!(case.suspension().escalated);
    assert_eq!(case.draft.not_after, None);
}

#[test]
fn a_signal_to_a_pending_waitpoint_is_buffered_and_leaves_the_lease_holder_alone() {
    let mut case = Case::leased();
    let pending = case.create_pending("p").unwrap();
    let before = case.execution.clone();
    assert_eq!(
        effect(&case.signal("p", "go").unwrap()),
        SignalEffect::BufferedForPendingWaitpoint
    );
    assert!(!writes_execution(&case));
    assert_eq!(case.execution, before);
    assert_eq!(case.waitpoint("p").buffered, 1);
    assert_eq!(case.draft.not_after, Some(pending.expires_at));
    case.pass(MINUTE);
    assert_eq!(code(case.signal("p", "go")), Code::WaitpointClosed);
}

#[test]
fn a_pending_waitpoint_outlives_the_lease_it_was_made_under() {
    let mut case = Case::leased();
    case.create_pending("p").unwrap();
    case.release();
    assert_eq!(
        effect(&case.signal("p", "go").unwrap()),
        SignalEffect::BufferedForPendingWaitpoint
    );
}

#[test]
fn a_repeated_signal_is_told_the_first_one_before_anything_else() {
    let mut case = Case::suspended();
    let mut command = case.signal_command("k", "go");
    command.idempotency_key = idempotency_key("once");
    case.deliver(&command).unwrap();
    let first = Delivered::before(command.signal_id.unwrap());
    let window = case.draft.writes.iter().find_map(|write| match write {
        Write::Create {
            record: Record::SignalKey(_),
            ttl,
        } => *ttl,
        _ => None,
    });
    assert_eq!(window, Some(Duration::from_hours(24)));
    case.cancel();
    let mut by_key = command.clone();
    by_key.signal_id = Some(SignalId::from_uuid(case.fresh()));
    assert_eq!(case.deliver(&by_key), Ok(first.clone()));
    let mut by_id = command;
    by_id.idempotency_key = None;
    assert_eq!(case.deliver(&by_id), Ok(first));
    assert!(case.draft.is_empty());
}

#[test]
fn an_ended_execution_takes_no_signals() {
    let mut case = Case::leased();
    case.create_pending("p").unwrap();
    let command = case.suspend_command(&["k"], single("k"));
    case.suspend(&command).unwrap();
    case.cancel();
    for waitpoint in ["k", "p"] {
        assert_eq!(code(case.signal(waitpoint, "go")), Code::TargetNotSignalable);
    }
}

#[test]
fn a_suspended_member_of_a_cancelled_flow_takes_no_signals_and_is_not_resumed() {
    let mut case = Case::member();
    let command = case.suspend_command(&["k"], single("k"));
    case.suspend(&command).unwrap();
    case.set_gate(GateState::Cancelled);
    assert_eq!(code(case.signal("k", "go")), Code::TargetNotSignalable);
    assert_eq!(code(case.resume(None)), Code::FlowAlreadyTerminal);
    case.set_gate(GateState::Sealed);
    case.signal("k", "go").unwrap();
    assert!(case.draft.guards.contains(&case.gate()));
}

#[test]
fn a_waitpoint_closes_with_its_suspension() {
    let mut case = Case::suspended();
    let late = case.signal_command("k", "go");
    case.signal("k", "go").unwrap();
    assert_eq!(code(case.deliver(&late)), Code::WaitpointClosed);
    case.lease();
    assert_eq!(code(case.deliver(&late)), Code::WaitpointClosed);
    let command = case.suspend_command(&["again"], single("again"));
    case.suspend(&command).unwrap();
    let refused = case.deliver(&late).unwrap_err();
    assert_eq!(refused.fields["reason"], "suspension_ended");
}

#[test]
fn a_signal_carries_at_most_256_kib() {
    let mut case = Case::suspended();
    let mut command = case.signal_command("k", "go");
    command.payload = Payload::binary(vec![0; 256 * 1024 + 1]);
    assert_eq!(code(case.deliver(&command)), Code::PayloadTooLarge);
    command.payload = Payload::binary(vec![0; 256 * 1024]);
    assert!(case.deliver(&command).is_ok());
}

#[test]
fn the_labels_of_a_signal_are_short() {
    let mut case = Case::suspended();
    for label in 0..3 {
        let mut command = case.signal_command("k", "go");
        let long = "x".repeat(257);
        match label {
            0 => command.category = long,
            1 => command.source_type = long,
            _ => command.correlation_id = Some(long),
        }
        assert_eq!(code(case.deliver(&command)), Code::InvalidInput);
    }
}

#[test]
fn buffered_signals_count_towards_the_limit_too() {
    let policy = Policy {
        max_signals_per_execution: Some(3),
        ..Policy::default()
    };
    let mut case = Case::with_policy(policy);
    case.create_pending("p").unwrap();
    case.create_pending("q").unwrap();
    case.signal("p", "early").unwrap();
    case.signal("q", "early").unwrap();
    let command = case.suspend_on("p", single("p"));
    case.suspend(&command).unwrap();
    case.signal("p", "other").unwrap();
    for waitpoint in ["p", "q"] {
        assert_eq!(code(case.signal(waitpoint, "go")), Code::SignalLimitExceeded);
    }
}

#[test]
fn no_sender_may_take_the_id_of_the_timeout_signal() {
    let mut case = Case::suspended_with(|command| Suspend {
        timeout_at: Some(START + MINUTE),
        timeout_behavior: Some(TimeoutBehavior::AutoResumeWithTimeoutSignal),
        ..command
    });
    let mut command = case.signal_command("k", "other");
    let taken = SignalId::from_uuid(case.suspension().id.uuid());
    command.signal_id = Some(taken);
    assert_eq!(code(case.deliver(&command)), Code::InvalidInput);
    case.pass(MINUTE);
    case.pump();
    assert_eq!(case.resumed_by(), [taken]);
}

#[test]
fn a_source_is_verified_when_a_credential_vouches_for_it() {
    let mut case = Case::suspended();
    let command = case.signal_command("k", "other");
    let claimed = command.source_identity.as_str().to_owned();
    for (actor, identity, verified) in [
        (Actor::Anonymous, &claimed[..], false),
        (Actor::Client(Identity::parse("gateway").unwrap()), "gateway", true),
    ] {
        case.actor = actor;
        let command = case.signal_command("k", "other");
        case.deliver(&command).unwrap();
        let signal = case.signals().pop().unwrap();
        assert_eq!(
            (signal.source_identity.as_str(), signal.source_verified),
            (identity, verified)
        );
    }
}

#[test]
fn a_wrong_token_and_an_unknown_waitpoint_get_the_same_answer() {
    let case = Case::suspended();
    let ring = KeyRing::first(Kid::parse("k1").unwrap(), Secret::from_random([7; 32]));
    let waitpoint = &case.waitpoint("k");
    let token = WaitpointToken::mint(&ring, &claims(case.execution.id, &waitpoint.reference()));
    let wrong = WaitpointToken::from_text("k1:00");
    let refused = Err(WaitpointToken::refused());
    assert_eq!(authenticate(Some(waitpoint), &wrong, &ring, case.now()), refused);
    assert_eq!(authenticate(None, &token, &ring, case.now()), refused);
    assert_eq!(authenticate(Some(waitpoint), &token, &ring, case.now()), Ok(waitpoint));
    assert_eq!(code(known(None)), Code::WaitpointNotFound);
}

#[test]
fn an_approval_is_a_signal_that_says_who_decided() {
    for (verdict, named) in [(Verdict::Approve, "approved"), (Verdict::Reject, "rejected")] {
        let mut case = Case::suspended_with(|command| Suspend {
            resume_condition: counting(1, Distinct::Signals, &["k"]),
            ..command
        });
        case.decide("k", verdict).unwrap();
        assert_eq!(case.state(), PublicState::Resumable);
        let signal = case.signals().pop().unwrap();
        assert_eq!(signal.name.as_str(), named);
        assert_eq!(signal.source_identity.as_str(), "alice");
        assert!(signal.source_verified);
    }
}

#[test]
fn an_operator_resumes_whatever_the_condition_says_once_per_request() {
    let mut case = Case::leased();
    let command = case.suspend_command(&["k"], ResumeCondition::OperatorOnly);
    case.suspend(&command).unwrap();
    assert_eq!(
        effect(&case.signal("k", "go").unwrap()),
        SignalEffect::IgnoredNotInCondition
    );
    assert_eq!(case.resume(request("r1")), Ok(ResumeOutcome::Now));
    assert_eq!(case.state(), PublicState::Resumable);
    assert_eq!(case.execution.resumed.as_ref().unwrap().by, ResumedBy::Operator);
    assert_eq!(case.resume(request("r1")), Ok(ResumeOutcome::Already));
    assert_eq!(code(case.resume(request("r2"))), Code::ExecutionNotSuspended);
    assert_eq!(code(case.resume(None)), Code::ExecutionNotSuspended);
}

#[test]
fn resuming_loses_to_a_timeout_that_has_come() {
    let mut case = Case::suspended_with(|command| Suspend {
        timeout_at: Some(START + MINUTE),
        ..command
    });
    case.pass(MINUTE);
    assert_eq!(code(case.resume(None)), Code::ExecutionNotSuspended);
}

#[test]
fn an_operator_hands_on_the_signals_that_counted() {
    let mut case = Case::leased();
    let command = case.suspend_command(&["k"], counting(2, Distinct::Signals, &["k"]));
    case.suspend(&command).unwrap();
    case.signal("k", "go").unwrap();
    case.resume(None).unwrap();
    assert_eq!(case.resumed_by().len(), 1);
}

#[test]
fn what_waits_for_a_person_is_listed_and_the_escalated_first() {
    let suspended = |reason_code, condition| {
        Case::suspended_with(|command| Suspend {
            reason_code,
            resume_condition: condition,
            timeout_at: Some(START + MINUTE),
            timeout_behavior: Some(TimeoutBehavior::Escalate),
            ..command
        })
    };
    let mut plain = suspended(ReasonCode::WaitingForSignal, single("k"));
    assert_eq!(approval(&plain.execution), None);
    plain.pass(MINUTE);
    plain.pump();
    let escalated = approval(&plain.execution).unwrap();
    for (reason, condition) in [
        (ReasonCode::WaitingForApproval, single("k")),
        (ReasonCode::OperatorReview, single("k")),
        (ReasonCode::ManualPause, single("k")),
        (ReasonCode::Policy, ResumeCondition::OperatorOnly),
    ] {
        let listed = approval(&suspended(reason, condition).execution).unwrap();
        assert_eq!(listed.waitpoints.len(), 1);
        assert!(escalated.order() < listed.order());
    }
    plain.resume(None).unwrap();
    assert_eq!(approval(&plain.execution), None);
}

#[test]
fn the_resumed_attempt_goes_on_with_the_time_it_has_left() {
    let policy = Policy {
        timeout_policy: Some(ff_core::policy::TimeoutPolicy {
            attempt_timeout: Some(MINUTE),
            execution_deadline: None,
        }),
        ..Policy::default()
    };
    let mut case = Case::with_policy(policy);
    let fence = case.fence();
    let command = case.suspend_command(&["k"], single("k"));
    case.pass(Duration::from_secs(20));
    case.suspend(&command).unwrap();
    case.pass(Duration::from_hours(5));
    case.signal("k", "go").unwrap();
    let next_claim = &case.execution.runnable().unwrap().next_claim;
    assert_eq!(next_claim.timeout, Some(Duration::from_secs(40)));
    assert_eq!(case.execution.attempt.as_ref().unwrap().id, fence.attempt_id);
    assert_eq!(time::due_at(&case.execution), None);
}

#[test]
fn a_buffered_signal_writes_as_little_however_many_came_before() {
    let mut case = Case::leased();
    case.create_pending("p").unwrap();
    let mut written = Vec::new();
    for _ in 0..200 {
        case.signal("p", "go").unwrap();
        written.push(serde_json::to_string(&case.waitpoint("p")).unwrap().len());
    }
    let digits = "200".len() - "1".len();
    assert!(written[199] <= written[0] + digits, "{} bytes", written[199]);
}

#[test]
fn what_was_due_is_written_with_a_buffered_signal_once_no_lease_is_live() {
    let mut case = Case::leased();
    let mut command = case.create_pending_command("p");
    command.expires_in = Duration::from_hours(2);
    case.create_pending_with(&command).unwrap();
    case.pass(Duration::from_hours(1) + Duration::from_millis(1));
    assert_eq!(
        effect(&case.signal("p", "go").unwrap()),
        SignalEffect::BufferedForPendingWaitpoint
    );
    assert!(writes_execution(&case));
    assert_eq!(case.state(), PublicState::Waiting);
}
