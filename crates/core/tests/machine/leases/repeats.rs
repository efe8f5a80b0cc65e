//! Fences, and what a repeated call is answered.

use ff_core::command::lease::{Complete, Completed, Fail, Failed, LetGo, Release, Renew};
use ff_core::error::Code;
use ff_core::id::AttemptId;
use ff_core::machine::lease::{complete, release, renew};
use ff_core::machine::{fail, operator};
use ff_core::payload::Payload;
use ff_core::record::{CancelSource, GateState, LeaseEnd, RecordKey};
use serde_json::json;
use uuid::Uuid;

use crate::leases::MILLISECOND;
use crate::running::{Case, Move, SECOND, code};
use crate::support::{LEASE_TTL, START};

#[test]
fn a_repeated_end_of_a_lease_gets_its_first_answer_and_changes_nothing() {
    let mut case = Case::with_policy(&json!({"retry_policy": {}})).leased();
    let fence = Some(case.fence());
    let command = Fail {
        fence,
        reason: "it broke".to_owned(),
        category: "transient".parse().unwrap(),
        retry_after: None,
        steps: Vec::new(),
    };
    let first = case.act(|execution, context| fail::fail(execution, &command, context));
    let delay_until = START + SECOND;
    assert_eq!(first, Ok(Failed::RetryScheduled { delay_until }));
    case.pass(MILLISECOND);
    let again = case.act(|execution, context| fail::fail(execution, &command, context));
    assert_eq!(again, first);
    assert!(case.draft.is_empty());
    let other = case.act(|execution, context| {
        release(
            execution,
            &Release {
                fence,
                ..Release::default()
            },
            context,
        )
    });
    assert_eq!(code(other), Code::ExecutionNotActive);
}

#[test]
fn a_repeated_end_is_told_from_the_first() {
    let mut case = Case::new().leased();
    let fence = Some(case.fence());
    case.release().unwrap();
    let again = case.act(|execution, context| {
        release(
            execution,
            &Release {
                fence,
                ..Release::default()
            },
            context,
        )
    });
    assert_eq!(again, Ok(LetGo::Already));
    case.lease();
    let command = Complete {
        fence: Some(case.fence()),
        result: Some(Payload::binary("yes")),
        ..Complete::default()
    };
    for completed in [Completed::Now, Completed::Already] {
        let answer = case.act(|execution, context| complete(execution, &command, context));
        assert_eq!(answer, Ok(completed));
    }
    assert!(case.draft.is_empty(), "the result is not written again");
}

#[test]
fn a_repeat_behind_a_cancelled_gate_says_what_happened_instead() {
    let mut case = Case::member().leased();
    case.set_gate(GateState::Cancelled);
    let fence = Some(case.fence());
    for _ in 0..2 {
        let answer = case.act(|execution, context| {
            release(
                execution,
                &Release {
                    fence,
                    ..Release::default()
                },
                context,
            )
        });
        assert_eq!(answer, Ok(LetGo::Cancelled));
    }
    let outcome = case.execution().outcome().cloned().unwrap();
    assert_eq!(outcome.cancel_source, Some(CancelSource::FlowCascade));
    assert_eq!(outcome.reason.as_deref(), Some("its flow was cancelled"));
}

#[test]
fn an_attempt_that_timed_out_behind_a_cancelled_gate_was_not_failed_by_its_worker() {
    let policy = json!({"retry_policy": {}, "timeout_policy": {"attempt_timeout_ms": 1_000}});
    let mut case = Case::member_with_policy(&policy).leased();
    case.set_gate(GateState::Cancelled);
    let command = Fail {
        fence: Some(case.fence()),
        reason: "it broke".to_owned(),
        category: "transient".parse().unwrap(),
        retry_after: None,
        steps: Vec::new(),
    };
    case.pass_and_pump(SECOND);
    let outcome = case.execution().outcome().cloned().unwrap();
    assert_eq!(outcome.cancel_source, Some(CancelSource::FlowCascade));
    let late = case.act(|execution, context| fail::fail(execution, &command, context));
    assert_eq!(code(late), Code::ExecutionNotActive);
}

#[test]
fn a_member_that_leaves_its_lease_guards_on_its_gate() {
    let ends: [(Move, bool); 5] = [
        (|case| _ = case.release().unwrap(), true),
        (|case| _ = case.revoke(None).unwrap(), true),
        (|case| case.pass_and_pump(LEASE_TTL), true),
        (|case| _ = case.complete().unwrap(), false),
        (|case| drop(case.renew().unwrap()), false),
    ];
    for (index, (end, guards)) in ends.into_iter().enumerate() {
        let mut case = Case::member().leased();
        let gate = RecordKey::Gate(case.execution().definition.flow.unwrap());
        end(&mut case);
        assert_eq!(case.draft.guards.contains(&gate), guards, "end {index}");
    }
}

#[test]
fn a_refused_fence_says_where_the_execution_stands() {
    let mut case = Case::new().leased();
    let fence = Some(case.fence());
    case.complete().unwrap();
    let refused = renew(
        &case.execution(),
        &Renew {
            fence,
            ..Renew::default()
        },
        &case.context(),
    )
    .unwrap_err();
    assert_eq!(refused.code, Code::ExecutionNotActive);
    let fields: Vec<_> = refused
        .fields
        .iter()
        .map(|(name, value)| (&**name, value.clone()))
        .collect();
    let expected = [
        ("attempt_index", json!(0)),
        ("lease_epoch", json!(1)),
        ("lifecycle_phase", json!("terminal")),
        ("terminal_outcome", json!("success")),
    ];
    assert_eq!(fields, expected);
}

#[test]
fn a_fence_must_match_in_all_three_values() {
    let case = Case::new().leased();
    let own = case.fence();
    let mut forged = [own; 3];
    forged[0].lease_id = Uuid::from_u128(99).to_string().parse().unwrap();
    forged[1].lease_epoch += 1;
    forged[2].attempt_id = AttemptId::from_uuid(Uuid::from_u128(99));
    for fence in forged.map(Some) {
        let refused = renew(
            &case.execution(),
            &Renew {
                fence,
                ..Renew::default()
            },
            &case.context(),
        );
        assert_eq!(code(refused), Code::StaleLease);
    }
}

#[test]
fn a_cancelled_lease_is_told_from_one_that_was_cancelled_under_its_holder() {
    let mut case = Case::new().leased();
    let fence = case.fence();
    operator_cancels(&mut case);
    assert_eq!(case.execution().ended_lease.unwrap().end, LeaseEnd::ExecutionEnded);
    let mut case = Case::new().leased();
    case.cancel(Some(fence)).unwrap();
    assert_eq!(case.execution().ended_lease.unwrap().end, LeaseEnd::Cancelled);
}

fn operator_cancels(case: &mut Case) {
    let decided = operator::cancel_by_cascade(&case.execution(), "sibling", &case.context());
    case.store.land(decided).unwrap();
}
