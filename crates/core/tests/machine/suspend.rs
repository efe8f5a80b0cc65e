//! suspend, create_pending_waitpoint, and what time does to both.

use crate::waiting::{Case, MINUTE, code, idempotency_key, key, request, single};
use ff_core::command::signal::Delivered;
use ff_core::command::suspend::{Suspend, WaitpointChoice};
use ff_core::command::waitpoint::{CreatePendingWaitpoint, RequiredNames, WaitpointClosed, WaitpointState};
use ff_core::error::Code;
use ff_core::id::{ExecutionId, WaitpointId};
use ff_core::keyring::{KeyRing, Secret};
use ff_core::machine::decided::{ClosedReason, Write};
use ff_core::machine::suspend::SuspendOutcome;
use ff_core::machine::waitpoint::{claims, list_open, read_token};
use ff_core::machine::{placement, signal, time};
use ff_core::name::{Category, Kid};
use ff_core::policy::{Policy, SuspensionPolicy};
use ff_core::record::{
    CancelSource, Distinct, GateState, Happening, LeaseEnd, OutcomeKind, Record, ResumeCondition, ResumedBy,
    TimeoutBehavior, WaitpointUse,
};
use ff_core::state::{PublicState, state_vector};
use ff_core::time::Duration;

fn timing_out(case: &Case, behavior: TimeoutBehavior) -> impl FnOnce(Suspend) -> Suspend + use<> {
    let timeout_at = case.now() + MINUTE;
    move |command| Suspend {
        timeout_at: Some(timeout_at),
        timeout_behavior: Some(behavior),
        ..command
    }
}

/// A suspension that timed out with this behaviour; the pump has run.
fn timed_out(behavior: TimeoutBehavior) -> Case {
    let mut case = Case::suspended_with(timing_out(&Case::leased(), behavior));
    case.pass(MINUTE);
    case.pump();
    case
}

#[test]
fn a_suspend_gives_up_the_lease_and_makes_its_waitpoints() {
    let mut case = Case::leased();
    let command = case.suspend_command(&["a", "b"], single("b"));
    let outcome = case.suspend(&command).unwrap();
    let SuspendOutcome::Suspended {
        suspension_id,
        waitpoints,
    } = outcome
    else {
        panic!("{outcome:?}")
    };
    assert_eq!(suspension_id, command.suspension_id());
    assert_eq!(
        waitpoints
            .iter()
            .map(|waitpoint| waitpoint.key.as_str())
            .collect::<Vec<_>>(),
        ["a", "b"]
    );
    assert_eq!(waitpoints[0], case.waitpoint("a").reference());
    assert_eq!(case.state(), PublicState::Suspended);
    assert_eq!(case.waitpoint_state("a"), WaitpointState::Active);
    assert_eq!(case.draft.not_after, Some(case.now() + Duration::from_hours(1)));
}

#[test]
fn a_repeated_suspend_gets_its_first_answer_whatever_happened_since() {
    let mut case = Case::leased();
    let command = case.suspend_command(&["k"], single("k"));
    let first = case.suspend(&command).unwrap();
    let mut again = case.suspend_command(&["k"], single("k"));
    again.fence = command.fence;
    assert_eq!(case.suspend(&again), Ok(first.clone()));
    case.signal("k", "go").unwrap();
    assert_eq!(case.suspend(&again), Ok(first.clone()));
    case.lease();
    assert_eq!(case.suspend(&again), Ok(first));
    assert!(case.draft.is_empty());
}

#[test]
fn another_key_under_the_same_lease_is_another_suspend() {
    let mut case = Case::leased();
    let mut command = case.suspend_command(&["k"], single("k"));
    command.idempotency_key = idempotency_key("one");
    let first = case.suspend(&command).unwrap();
    assert_eq!(case.suspend(&command), Ok(first.clone()));
    command.idempotency_key = idempotency_key("two");
    assert_eq!(code(case.suspend(&command)), Code::AlreadySuspended);
    command.idempotency_key = None;
    assert_eq!(case.suspend(&command), Ok(first));
}

#[test]
fn a_suspend_without_a_fence_or_with_an_old_one_is_refused() {
    let mut case = Case::leased();
    let mut command = case.suspend_command(&["k"], single("k"));
    let fence = command.fence.take();
    assert_eq!(code(case.suspend(&command)), Code::FenceRequired);
    command.fence = fence;
    case.release();
    assert_eq!(code(case.suspend(&command)), Code::ExecutionNotActive);
    case.lease();
    case.release();
    assert_eq!(code(case.suspend(&command)), Code::StaleLease);
}

#[test]
fn a_suspension_has_1_to_100_waitpoints_with_different_keys() {
    let mut case = Case::leased();
    let keys: Vec<String> = (0..101).map(|index| format!("k{index}")).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    for bad in [&keys[..0], &keys[..]] {
        let command = case.suspend_command(bad, single("k0"));
        assert_eq!(code(case.suspend(&command)), Code::InvalidInput);
    }
    let twice = case.suspend_command(&["a", "b", "a"], single("a"));
    assert_eq!(code(case.suspend(&twice)), Code::WaitpointAlreadyExists);
    let mut same_id = case.suspend_command(&["a", "b"], single("a"));
    let given = Some(WaitpointId::from_uuid(case.fresh()));
    for choice in &mut same_id.waitpoints {
        if let WaitpointChoice::Fresh { waitpoint_id, .. } = choice {
            *waitpoint_id = given;
        }
    }
    assert_eq!(code(case.suspend(&same_id)), Code::WaitpointAlreadyExists);
    let command = case.suspend_command(&keys[..100], single("k99"));
    assert!(case.suspend(&command).is_ok());
}

#[test]
fn ids_that_are_not_given_follow_from_the_lease_the_key_and_the_waitpoints() {
    let mut case = Case::leased();
    let mut command = case.suspend_command(&["a", "b"], single("a"));
    let again = case.suspend_command(&["a", "b"], single("a"));
    let ids = |command: &Suspend| {
        let waitpoints: Vec<_> = command.waitpoint_ids().map(|id| id.uuid()).collect();
        (command.suspension_id().uuid(), waitpoints)
    };
    let (suspension, waitpoints) = ids(&command);
    assert_eq!(ids(&again), (suspension, waitpoints.clone()));
    assert!(waitpoints[0] != waitpoints[1] && !waitpoints.contains(&suspension));
    command.idempotency_key = idempotency_key("another");
    let elsewhere = case.suspend_command(&["b", "a"], single("a"));
    case.release();
    case.lease();
    let later = case.suspend_command(&["a", "b"], single("a"));
    for other in [command, elsewhere, later] {
        let (other, at) = ids(&other);
        assert_ne!(other, suspension);
        assert!(at.iter().all(|id| !waitpoints.contains(id)));
    }
}

#[test]
fn a_condition_may_name_only_waitpoints_of_its_suspension() {
    let mut case = Case::leased();
    let command = case.suspend_command(&["a"], single("b"));
    let refused = case.suspend(&command).unwrap_err();
    assert_eq!(refused.code, Code::InvalidCondition);
    assert_eq!(refused.fields["path"], "resume_condition.single.waitpoint_key");
    assert_eq!(case.state(), PublicState::Active);
}

#[test]
fn a_timeout_lies_in_the_future() {
    let mut case = Case::leased();
    let mut command = case.suspend_command(&["k"], single("k"));
    command.timeout_at = Some(case.now());
    assert_eq!(code(case.suspend(&command)), Code::InvalidInput);
    command.timeout_at = Some(case.now() + Duration::from_millis(1));
    assert!(case.suspend(&command).is_ok());
}

#[test]
fn the_policy_says_what_the_suspend_leaves_open() {
    let policy = Policy {
        suspension_policy: Some(SuspensionPolicy {
            default_timeout: Some(MINUTE),
            timeout_behavior: Some(TimeoutBehavior::Escalate),
        }),
        ..Policy::default()
    };
    let mut case = Case::with_policy(policy.clone());
    let command = case.suspend_command(&["k"], ResumeCondition::TimeoutOnly);
    case.suspend(&command).unwrap();
    assert_eq!(case.suspension().timeout_at, Some(case.now() + MINUTE));
    assert_eq!(case.suspension().timeout_behavior, TimeoutBehavior::Escalate);

    let mut case = Case::with_policy(policy);
    let command = timing_out(&case, TimeoutBehavior::Cancel)(case.suspend_command(&["k"], single("k")));
    case.suspend(&command).unwrap();
    assert_eq!(case.suspension().timeout_behavior, TimeoutBehavior::Cancel);

    let case = Case::suspended();
    assert_eq!(case.suspension().timeout_behavior, TimeoutBehavior::Fail);
    assert_eq!(time::due_at(&case.execution), None);
}

#[test]
fn behind_a_cancelled_gate_a_suspend_cancels_and_makes_nothing() {
    let mut case = Case::member();
    let command = case.suspend_command(&["k"], single("k"));
    case.set_gate(GateState::Cancelled);
    assert_eq!(case.suspend(&command), Ok(SuspendOutcome::Cancelled));
    assert_eq!(case.state(), PublicState::Cancelled);
    assert!(case.waitpoints().is_empty());
    assert_eq!(case.suspend(&command), Ok(SuspendOutcome::Cancelled));
    assert!(case.draft.is_empty());
}

#[test]
fn a_suspend_of_a_member_guards_on_the_gate() {
    let mut case = Case::member();
    let command = case.suspend_command(&["k"], single("k"));
    case.suspend(&command).unwrap();
    assert!(case.draft.guards.contains(&case.gate()));
}

#[test]
fn a_request_that_was_handed_an_open_waitpoint_gets_it_again_when_that_is_closed() {
    let mut case = Case::leased();
    let open = case.create_pending("p").unwrap();
    let again = CreatePendingWaitpoint {
        request_id: request("again"),
        ..case.create_pending_command("p")
    };
    assert_eq!(case.create_pending_with(&again), Ok(open.clone()));
    let used = case.suspend_on("p", single("p"));
    case.signal("p", "go").unwrap();
    let outcome = case.suspend(&used).unwrap();
    assert!(
        matches!(outcome, SuspendOutcome::AlreadySatisfied { .. }),
        "{outcome:?}"
    );
    assert_eq!(case.create_pending_with(&again), Ok(open.clone()));
    assert_ne!(case.create_pending("p"), Ok(open), "who asks anew gets a new one");
}

#[test]
fn early_signals_count_when_a_suspend_uses_their_waitpoint() {
    let mut case = Case::leased();
    case.create_pending("p").unwrap();
    case.signal("p", "go").unwrap();
    case.pass(Duration::from_millis(1));
    let condition = ResumeCondition::AllOf(vec![single("p"), single("k")]);
    let mut command = case.suspend_on("p", condition);
    command
        .waitpoints
        .extend(case.suspend_command(&["k"], single("k")).waitpoints);
    let outcome = case.suspend(&command).unwrap();
    let SuspendOutcome::Suspended { waitpoints, .. } = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(waitpoints[0], case.waitpoint("p").reference());
    assert!(waitpoints[0].created_at < waitpoints[1].created_at);
    assert_eq!(case.suspension().matched.len(), 1);
    assert!(case.execution.pending_waitpoints.is_empty());
    let put = |write: &Write| matches!(write, Write::Put(Record::Waitpoint(waitpoint)) if waitpoint.key == key("p"));
    assert!(
        case.draft.writes.iter().any(put),
        "a signal that lands in between must conflict"
    );
    case.signal("k", "go").unwrap();
    assert_eq!(case.state(), PublicState::Resumable);
    assert_eq!(case.resumed_by().len(), 2);
}

#[test]
fn early_signals_count_in_the_order_they_came() {
    let mut case = Case::leased();
    for waitpoint in ["p", "q"] {
        case.create_pending(waitpoint).unwrap();
    }
    let mut sent = Vec::new();
    for waitpoint in ["q", "p", "q"] {
        case.pass(Duration::from_millis(1));
        let command = case.signal_command(waitpoint, "go");
        case.deliver(&command).unwrap();
        sent.extend(command.signal_id);
    }
    let condition = ResumeCondition::Count {
        n: 3,
        distinct: Distinct::Signals,
        matcher: None,
        waitpoints: vec![key("p"), key("q")],
    };
    let mut command = case.suspend_on("p", condition.clone());
    command.waitpoints.extend(case.suspend_on("q", condition).waitpoints);
    assert_eq!(
        case.suspend(&command),
        Ok(SuspendOutcome::AlreadySatisfied {
            signals: sent,
            step_seq: None,
        })
    );
}

/// A lease holder whose suspend was already satisfied, the suspend, and its first answer.
fn already_satisfied() -> (Case, Suspend, SuspendOutcome) {
    let mut case = Case::leased();
    case.create_pending("p").unwrap();
    case.signal("p", "go").unwrap();
    let mut command = case.suspend_on("p", single("p"));
    command
        .waitpoints
        .extend(case.suspend_command(&["k"], single("k")).waitpoints);
    let outcome = case.suspend(&command).unwrap();
    (case, command, outcome)
}

#[test]
fn a_condition_met_early_keeps_the_lease_and_closes_what_was_used() {
    let (case, command, outcome) = already_satisfied();
    let signals: Vec<_> = case.signals().iter().map(|signal| signal.id).collect();
    assert_eq!(
        outcome,
        SuspendOutcome::AlreadySatisfied {
            signals: signals.clone(),
            step_seq: None,
        }
    );
    assert_eq!(Some(case.fence()), command.fence);
    assert_eq!(
        case.waitpoint_state("p"),
        WaitpointState::Closed(WaitpointClosed::Consumed)
    );
    assert_eq!(case.waitpoints().len(), 1, "no fresh waitpoint is made");
    assert!(case.execution.pending_waitpoints.is_empty());
    let resumed = case.execution.resumed.unwrap();
    assert_eq!((resumed.signals, resumed.by), (signals, ResumedBy::Signals));
}

#[test]
fn a_repeated_suspend_that_was_not_needed_gets_its_first_answer() {
    let (mut case, command, first) = already_satisfied();
    assert_eq!(case.suspend(&command), Ok(first));
    assert!(case.draft.is_empty());
    let stricter = Suspend {
        resume_condition: ResumeCondition::OperatorOnly,
        ..command.clone()
    };
    assert_eq!(code(case.suspend(&stricter)), Code::WaitpointClosed);
    case.create_pending("q").unwrap();
    let mut other = case.suspend_on("p", single("p"));
    other.waitpoints.extend(case.suspend_on("q", single("q")).waitpoints);
    assert_eq!(code(case.suspend(&other)), Code::WaitpointClosed);
}

#[test]
fn a_suspend_uses_only_its_own_open_pending_waitpoints() {
    let mut case = Case::leased();
    let mut unknown = case.suspend_command(&[], single("p"));
    let waitpoint_id = WaitpointId::from_uuid(case.fresh());
    unknown.waitpoints = vec![WaitpointChoice::UsePending { waitpoint_id }];
    assert_eq!(code(case.suspend(&unknown)), Code::WaitpointNotFound);
    case.create_pending("p").unwrap();
    let command = case.suspend_on("p", single("p"));
    let mut foreign = case.waitpoint("p");
    foreign.execution_id = ExecutionId::new(3, case.fresh());
    assert_eq!(code(case.suspend_with(&command, &[foreign])), Code::WaitpointNotFound);
    case.pass(MINUTE);
    assert_eq!(code(case.suspend(&command)), Code::PendingWaitpointExpired);
    case.pump();
    assert_eq!(code(case.suspend(&command)), Code::PendingWaitpointExpired);
}

#[test]
fn a_pending_waitpoint_is_used_once() {
    let mut case = Case::leased();
    case.create_pending("p").unwrap();
    let command = case.suspend_on("p", single("p"));
    case.suspend(&command).unwrap();
    case.signal("p", "go").unwrap();
    case.lease();
    let again = case.suspend_on("p", single("p"));
    assert_eq!(code(case.suspend(&again)), Code::WaitpointClosed);
}

#[test]
fn a_new_suspension_forgets_what_ended_the_last_one() {
    let mut case = Case::suspended();
    case.signal("k", "go").unwrap();
    case.lease();
    let command = case.suspend_command(&["again"], single("again"));
    assert!(case.execution.resumed.is_some(), "the worker that goes on is told");
    case.suspend(&command).unwrap();
    assert_eq!(case.execution.resumed, None);
}

#[test]
fn a_pending_waitpoint_keeps_the_lease_and_is_remembered_by_its_request() {
    let mut case = Case::leased();
    let mut command = case.create_pending_command("p");
    command.request_id = request("r1");
    let first = case.create_pending_with(&command).unwrap();
    assert_eq!(first.expires_at, case.now() + MINUTE);
    assert_eq!(first.waitpoint, case.waitpoint("p").reference());
    assert_eq!(case.state(), PublicState::Active);
    command.waitpoint_id = Some(WaitpointId::from_uuid(case.fresh()));
    case.pass(Duration::from_millis(5));
    assert_eq!(case.create_pending_with(&command), Ok(first.clone()));
    assert_eq!(case.waitpoints().len(), 1);
    command.request_id = request("r2");
    let refused = case.create_pending_with(&command).unwrap_err();
    assert_eq!(refused.code, Code::WaitpointAlreadyExists);
    assert_eq!(refused.fields["waitpoint_id"], first.waitpoint.id.to_string());
}

#[test]
fn a_pending_waitpoint_is_remembered_by_its_id_too_while_it_is_open() {
    let mut case = Case::leased();
    let mut command = case.create_pending_command("p");
    command.waitpoint_id = Some(WaitpointId::from_uuid(case.fresh()));
    let first = case.create_pending_with(&command).unwrap();
    case.pass(Duration::from_millis(5));
    assert_eq!(case.create_pending_with(&command), Ok(first));
    assert_eq!(case.waitpoints().len(), 1);
}

#[test]
fn a_pending_waitpoint_lasts_1_ms_to_30_days() {
    let mut case = Case::leased();
    let month = Duration::from_hours(30 * 24);
    for (expires_in, fits) in [
        (Duration::ZERO, false),
        (Duration::from_millis(1), true),
        (month, true),
        (month + Duration::from_millis(1), false),
    ] {
        let name = format!("p{expires_in}").replace(' ', "");
        let command = CreatePendingWaitpoint {
            expires_in,
            ..case.create_pending_command(&name)
        };
        let result = case.create_pending_with(&command);
        assert_eq!(result.is_ok(), fits, "{expires_in}");
    }
}

#[test]
fn at_most_100_pending_waitpoints_are_open_and_expired_ones_do_not_count() {
    let mut case = Case::leased();
    for index in 0..100 {
        case.create_pending(&format!("p{index}")).unwrap();
    }
    assert_eq!(code(case.create_pending("more")), Code::InvalidInput);
    case.pass(MINUTE);
    assert!(case.create_pending("p0").is_ok(), "its expired namesake is closed");
    assert_eq!(case.execution.pending_waitpoints.len(), 1);
}

#[test]
fn an_unused_pending_waitpoint_closes_at_its_expiry() {
    let mut case = Case::leased();
    case.create_pending("p").unwrap();
    let record = Record::from(case.waitpoint("p"));
    assert_eq!(placement::due_at(&record), Some(case.now() + MINUTE));
    case.pass(Duration::from_millis(59_999));
    case.pump();
    assert!(case.draft.is_empty());
    case.pass(Duration::from_millis(1));
    assert_eq!(
        case.waitpoint_state("p"),
        WaitpointState::Closed(WaitpointClosed::NeverCommitted)
    );
    case.pump();
    assert_eq!(case.waitpoint("p").usage, WaitpointUse::NeverCommitted);
    assert_eq!(case.draft.history[0].what, Happening::WaitpointExpired);
    assert_eq!(placement::due_at(&Record::from(case.waitpoint("p"))), None);
    assert_eq!(case.state(), PublicState::Active);
}

#[test]
fn the_end_of_an_execution_closes_its_pending_waitpoints_for_good() {
    let mut case = Case::leased();
    case.create_pending("p").unwrap();
    let open = case.execution.phase.clone();
    case.cancel();
    let closed = WaitpointState::Closed(WaitpointClosed::ExecutionEnded);
    assert_eq!(case.waitpoint_state("p"), closed);
    case.execution.phase = open;
    assert_eq!(case.waitpoint_state("p"), closed, "also when the execution is replayed");
}

#[test]
fn a_timeout_can_fail_cancel_or_expire_the_execution() {
    for (behavior, kind) in [
        (TimeoutBehavior::Fail, OutcomeKind::Failed),
        (TimeoutBehavior::Cancel, OutcomeKind::Cancelled),
        (TimeoutBehavior::Expire, OutcomeKind::Expired),
    ] {
        let case = timed_out(behavior);
        let outcome = case.execution.outcome().unwrap();
        assert_eq!(outcome.kind, kind);
        assert_eq!(case.draft.stream_ends[0].reason, ClosedReason::SuspensionTimeout);
        let failure = outcome.failure.as_ref().map(|failure| failure.category.clone());
        assert_eq!(failure, (kind == OutcomeKind::Failed).then(Category::timeout));
        let source = (kind == OutcomeKind::Cancelled).then_some(CancelSource::SystemTimeout);
        assert_eq!(outcome.cancel_source, source);
    }
}

#[test]
fn a_timeout_that_fails_is_never_retried() {
    let policy = Policy {
        retry_policy: Some(Default::default()),
        ..Policy::default()
    };
    let mut case = Case::with_policy(policy);
    let command = timing_out(&case, TimeoutBehavior::Fail)(case.suspend_command(&["k"], single("k")));
    case.suspend(&command).unwrap();
    case.pass(MINUTE);
    case.pump();
    assert_eq!(case.state(), PublicState::Failed);
}

#[test]
fn nothing_happens_before_the_timeout() {
    let mut case = Case::suspended_with(timing_out(&Case::leased(), TimeoutBehavior::Fail));
    assert_eq!(time::due_at(&case.execution), Some(case.now() + MINUTE));
    case.pass(Duration::from_millis(59_999));
    case.pump();
    assert_eq!(case.state(), PublicState::Suspended);
}

#[test]
fn a_timeout_can_resume_with_a_signal_of_its_own() {
    let case = timed_out(TimeoutBehavior::AutoResumeWithTimeoutSignal);
    assert_eq!(case.state(), PublicState::Resumable);
    let resumed = case.execution.resumed.as_ref().unwrap();
    assert_eq!(resumed.by, ResumedBy::Timeout);
    let signal = case.signals().pop().unwrap();
    assert_eq!(resumed.signals, [signal.id]);
    assert_eq!(signal.name.as_str(), "timeout");
    assert_eq!(signal.waitpoint_id, None);
}

#[test]
fn behind_a_cancelled_gate_a_timeout_cancels_instead_of_resuming() {
    let mut case = Case::member();
    let command = case.suspend_command(&["k"], single("k"));
    let command = timing_out(&case, TimeoutBehavior::AutoResumeWithTimeoutSignal)(command);
    case.suspend(&command).unwrap();
    case.set_gate(GateState::Cancelled);
    case.pass(MINUTE);
    case.pump();
    assert_eq!(case.state(), PublicState::Cancelled);
    assert!(case.signals().is_empty());
}

#[test]
fn an_escalated_suspension_waits_for_a_person_and_still_takes_signals() {
    let mut case = timed_out(TimeoutBehavior::Escalate);
    assert_eq!(case.state(), PublicState::Suspended);
    assert_eq!(
        state_vector(&case.execution).blocking_reason.as_str(),
        "paused_by_operator"
    );
    assert_eq!(time::due_at(&case.execution), None);
    let delivered = case.signal("k", "go").unwrap();
    assert!(matches!(delivered, Delivered::Accepted { .. }));
    assert_eq!(case.state(), PublicState::Resumable);
}

#[test]
fn open_waitpoints_are_listed_with_what_they_require_and_no_token() {
    let mut case = Case::leased();
    case.create_pending("p").unwrap();
    let command = timing_out(&case, TimeoutBehavior::Fail)(case.suspend_command(&["k"], single("k")));
    case.suspend(&command).unwrap();
    let kid = Kid::parse("k1").unwrap();
    let listed = list_open(&case.execution, &kid, case.now());
    let [active, pending] = listed.as_slice() else {
        panic!("{listed:?}")
    };
    assert_eq!(
        (active.state, pending.state),
        (WaitpointState::Active, WaitpointState::Pending)
    );
    assert_eq!(
        active.required_names,
        RequiredNames::Names([crate::waiting::name("go")].into())
    );
    assert_eq!(pending.required_names, RequiredNames::Nothing);
    assert_eq!(active.closes_at, Some(case.now() + MINUTE));
    let fingerprint = claims(case.execution.id, &case.waitpoint("k").reference()).fingerprint();
    assert_eq!((&active.fingerprint, &active.kid), (&fingerprint, &kid));
    case.pass(MINUTE);
    case.pump();
    assert!(list_open(&case.execution, &kid, case.now()).is_empty());
}

#[test]
fn the_token_of_an_open_waitpoint_opens_it() {
    let mut case = Case::suspended();
    let ring = KeyRing::first(Kid::parse("k1").unwrap(), Secret::from_random([7; 32]));
    let waitpoint = case.waitpoint("k");
    let token = read_token(&waitpoint, &case.execution, &ring, case.now()).unwrap();
    assert_eq!(
        signal::authenticate(Some(&waitpoint), &token, &ring, case.now()),
        Ok(&waitpoint)
    );
    case.resume(None).unwrap();
    let refused = read_token(&waitpoint, &case.execution, &ring, case.now());
    assert_eq!(code(refused), Code::WaitpointClosed);
}

#[test]
fn a_suspend_is_remembered_with_its_lease() {
    let case = Case::suspended();
    let ended = case.execution.ended_lease.unwrap();
    assert!(matches!(ended.end, LeaseEnd::Suspended { waitpoints, .. } if waitpoints.len() == 1));
}
