//! What a person decided, and what is shown to who decides.

use ff_core::command::signal::{Approval, Delivered, Verdict};
use ff_core::command::suspend::Suspend;
use ff_core::id::{SignalId, WaitpointId};
use ff_core::machine::approval::{approval, decided_before, same_decision};
use ff_core::name::{Identity, SignalName};
use ff_core::record::{ReasonCode, Signal, SignalEffect};
use ff_core::time::{Duration, Timestamp};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::waiting::Case;

const HERE: WaitpointId = WaitpointId::from_uuid(Uuid::from_u128(1));
const THERE: WaitpointId = WaitpointId::from_uuid(Uuid::from_u128(2));

/// A signal that arrived after so many milliseconds.
fn signal(name: SignalName, waitpoint_id: WaitpointId, after: u64, effect: SignalEffect) -> Signal {
    let case = Case::suspended();
    Signal {
        id: SignalId::from_uuid(Uuid::from_u128(after.into())),
        execution_id: case.execution.id,
        waitpoint_id: Some(waitpoint_id),
        name,
        category: "approval".to_owned(),
        source_type: "operator".to_owned(),
        source_identity: Identity::parse(format!("who-{after}")).unwrap(),
        source_verified: true,
        correlation_id: None,
        idempotency_key: None,
        accepted_at: Timestamp::from_millis(after),
        effect,
        payload_bytes: 0,
        buffered_after: None,
        carried: Default::default(),
    }
}

fn asked() -> Approval {
    let case = Case::suspended_with(|command| Suspend {
        reason_code: ReasonCode::WaitingForApproval,
        ..command
    });
    approval(&case.execution).unwrap()
}

fn shown(summary: &Value) -> Approval {
    let mut asked = asked();
    asked.add_shown(summary.to_string().as_bytes());
    asked
}

#[test]
fn who_is_too_late_is_told_what_ended_the_wait() {
    use SignalEffect as Effect;
    let signals = [
        signal(SignalName::rejected(), HERE, 1, Effect::AppendedToWaitpoint),
        signal(SignalName::approved(), HERE, 2, Effect::ResumeConditionSatisfied),
        signal(SignalName::rejected(), HERE, 3, Effect::AppendedToWaitpoint),
        signal(SignalName::rejected(), THERE, 4, Effect::ResumeConditionSatisfied),
    ];
    let told = decided_before(&signals, HERE).unwrap();
    assert_eq!(told, same_decision(&signals[1]));
    let Delivered::Duplicate {
        by,
        verdict,
        at,
        verified,
        ..
    } = told
    else {
        panic!("{told:?}");
    };
    assert_eq!(by, Some(Identity::parse("who-2").unwrap()));
    assert_eq!((verdict, verified), (Some(Verdict::Approve), Some(true)));
    assert_eq!(at, Some(Timestamp::from_millis(2)));
    let without_an_end = [signals[0].clone(), signals[2].clone()];
    assert_eq!(decided_before(&without_an_end, HERE), Some(same_decision(&signals[2])));
}

#[test]
fn what_is_no_decision_is_not_told_as_one() {
    let other = signal(
        SignalName::parse("go").unwrap(),
        HERE,
        1,
        SignalEffect::ResumeConditionSatisfied,
    );
    let ignored = signal(SignalName::approved(), HERE, 2, SignalEffect::IgnoredNotInCondition);
    assert_eq!(decided_before([&other, &ignored], HERE), None);
    assert_eq!(same_decision(&other), Delivered::before(other.id));
}

#[test]
fn what_is_shown_stands_in_the_summary_under_the_key_of_a_waitpoint() {
    let flat = shown(&json!({ "approvals": { "k": { "title": "Deploy", "n": 1 } } }));
    assert_eq!(flat.title.as_deref(), Some("Deploy"));
    assert_eq!(flat.show_key, Some(flat.waitpoints[0].key.clone()));
    assert_eq!(flat.show_bytes, flat.show.as_ref().map(|show| show.len() as u64));
    let text = shown(&json!({ "approvals": { "k": "Deploy?" } }));
    assert_eq!((text.title, &*text.show.unwrap().bytes), (None, &b"\"Deploy?\""[..]));
    for nothing in [
        json!({ "approvals": { "other": 1 } }),
        json!({ "approvals": "k" }),
        json!({ "k": 1 }),
        json!([1]),
    ] {
        assert_eq!(shown(&nothing), asked(), "{nothing}");
    }
    let mut broken = asked();
    broken.add_shown(b"{");
    assert_eq!(broken, asked());
}

#[test]
fn an_approval_says_which_attempt_goes_on() {
    let mut case = Case::leased();
    case.release();
    case.pass(Duration::from_secs(1));
    case.lease();
    let command = case.suspend_command(&["k"], crate::waiting::single("k"));
    let command = Suspend {
        reason_code: ReasonCode::OperatorReview,
        ..command
    };
    case.suspend(&command).unwrap();
    let listed = approval(&case.execution).unwrap();
    assert_eq!(listed.expected_attempt, case.execution.attempt.as_ref().unwrap().index);
    assert_eq!((listed.usage.len(), listed.steps), (0, None));
}
