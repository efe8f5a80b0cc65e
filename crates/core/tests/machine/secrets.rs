//! A lease id is a secret: whoever knows it acts as the holder. Nothing that is read, logged or told shows it.

use crate::running::{Case, MINUTE, Move, SECOND};
use crate::support::{LEASE_TTL, submission};
use ff_core::command::lease::{Complete, Fail, Holder, Release, Renew};
use ff_core::command::submit::CreateExecution;
use ff_core::error::Rejection;
use ff_core::id::LeaseId;
use ff_core::machine::{fail, lease};
use ff_core::payload::Payload;
use serde_json::json;
use uuid::Uuid;

const SECRET: &str = "5ec3e75e-c3e7-4ec3-8ec3-75ec3e75ec3e";

/// A worker holds it under a lease whose id stands out.
fn leased() -> Case {
    let mut case = Case::with_policy(&json!({"retry_policy": {}, "quota_policy_id": crate::running::quota_id()}));
    let mut claimant = case.store.claimant().unwrap();
    claimant.lease_id = LeaseId::from_uuid(Uuid::parse_str(SECRET).unwrap());
    case.claim_as(&claimant);
    case.renew().unwrap();
    case
}

fn assert_hidden(text: &str) {
    let lowered = text.to_lowercase();
    let bare = SECRET.replace('-', "");
    assert!(!lowered.contains(SECRET) && !lowered.contains(&bare), "{text}");
}

/// Everything a refusal shows.
fn assert_refusal_hides(rejection: &Rejection) {
    assert_hidden(&format!("{rejection} {rejection:?} {:?}", rejection.fields));
}

/// Every way a lease ends, with everything on the way there.
fn ends() -> Vec<Case> {
    let ends: [Move; 8] = [
        |case| _ = case.release().unwrap(),
        |case| _ = case.delay(case.now() + SECOND).unwrap(),
        |case| _ = case.complete().unwrap(),
        |case| _ = case.fail("transient").unwrap(),
        Case::suspend,
        |case| _ = case.revoke(None).unwrap(),
        |case| _ = case.cancel(None).unwrap(),
        |case| case.pass_and_pump(LEASE_TTL),
    ];
    let reach = |end: Move| {
        let mut case = leased();
        let usage = case.usage();
        case.report(&usage).unwrap();
        case.request_stop();
        end(&mut case);
        case
    };
    ends.into_iter().map(reach).collect()
}

#[test]
fn nothing_prints_a_lease_id() {
    let case = leased();
    let fence = case.fence();
    let parent = Holder {
        execution_id: case.id,
        fence,
    };
    let submission = CreateExecution {
        parent_fence: Some(parent),
        ..submission().unwrap()
    };
    let renew = Renew {
        fence: Some(fence),
        ttl: None,
        doing: Vec::new(),
    };
    assert_hidden(&format!("{:?} {fence:?} {:?}", fence.lease_id, case.lease_record()));
    assert_hidden(&format!("{parent:?} {submission:?} {renew:?} {:?}", case.execution()));
    assert_hidden(&format!("{:?}", case.draft));
}

#[test]
fn no_line_of_history_shows_a_lease_id() {
    for case in ends() {
        assert!(!case.history.is_empty());
        for line in &case.history {
            assert_hidden(&serde_json::to_string(line).unwrap());
            assert_hidden(&format!("{line:?}"));
        }
    }
}

#[test]
fn what_is_kept_of_an_ended_lease_does_not_show_its_id() {
    for case in ends() {
        let execution = case.execution();
        assert!(execution.lease().is_none());
        assert_hidden(&serde_json::to_string(&execution).unwrap());
        for attempt in case.archived() {
            assert_hidden(&serde_json::to_string(&attempt).unwrap());
        }
        assert_hidden(&format!("{:?}", case.draft));
    }
}

#[test]
fn an_attempt_and_an_outbox_never_show_the_lease_they_came_under() {
    let mut case = leased();
    let usage = case.usage();
    case.report(&usage).unwrap();
    assert_hidden(&serde_json::to_string(&case.attempt()).unwrap());
    assert_hidden(&serde_json::to_string(&case.execution().outbox).unwrap());
    assert_hidden(&serde_json::to_string(&case.execution().requests).unwrap());
}

#[test]
fn no_refusal_shows_the_fence_it_refuses() {
    let fence = Some(leased().fence());
    for mut case in ends() {
        case.pass(MINUTE);
        let refusals = [
            case.act(|execution, context| {
                lease::renew(
                    execution,
                    &Renew {
                        fence,
                        ..Renew::default()
                    },
                    context,
                )
            })
            .err(),
            case.act(|execution, context| {
                lease::release(
                    execution,
                    &Release {
                        fence,
                        ..Release::default()
                    },
                    context,
                )
            })
            .err(),
            case.act(|execution, context| {
                lease::complete(
                    execution,
                    &Complete {
                        fence,
                        result: None,
                        ..Complete::default()
                    },
                    context,
                )
            })
            .err(),
            case.act(|execution, context| fail::fail(execution, &failing(fence), context))
                .err(),
        ];
        assert!(refusals[0].is_some(), "the lease is over");
        refusals.iter().flatten().for_each(assert_refusal_hides);
    }
}

fn failing(fence: Option<ff_core::record::Fence>) -> Fail {
    Fail {
        fence,
        reason: "it broke".to_owned(),
        category: "transient".parse().unwrap(),
        retry_after: None,
        steps: Vec::new(),
    }
}

#[test]
fn a_payload_prints_its_size_and_not_its_bytes() {
    let payload = Payload::binary(SECRET);
    assert_eq!(format!("{payload:?}"), "Payload(36 bytes, application/octet-stream)");
    assert_eq!((payload.len(), payload.is_empty()), (36, false));
    assert!(Payload::default().is_empty());
    let json = Payload::json(&json!({"a": 1}));
    assert_eq!(
        (&json.bytes[..], json.content_type.as_str()),
        (&br#"{"a":1}"#[..], "application/json")
    );
}

#[test]
fn a_lease_id_spelled_wrongly_is_not_repeated_to_anybody() {
    for wrong in [SECRET.to_uppercase(), SECRET.replace('-', ""), format!("{{{SECRET}}}")] {
        assert_refusal_hides(&wrong.parse::<LeaseId>().unwrap_err());
    }
}
