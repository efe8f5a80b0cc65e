//! Quota slots: one is given back once for each lease and grant that ends.

use ff_core::id::{EffectId, GrantId};
use ff_core::machine::{claim, outbox};
use ff_core::record::{Cause, Effect, EffectKind};
use serde_json::json;

use crate::running::{Case, HOUR, MINUTE, Move, SECOND, quota_id, seconds};
use crate::support::{LEASE_TTL, START};

/// What gives the slot of `grant_id` back.
fn release_of(grant_id: GrantId) -> Effect {
    Effect {
        id: EffectId::from_uuid(grant_id.uuid()),
        kind: EffectKind::ReleaseSlot {
            quota_policy_id: quota_id(),
            grant_id,
        },
    }
}

#[test]
fn however_a_lease_ends_its_quota_slot_is_given_back_once() {
    let ends: [Move; 12] = [
        |case| _ = case.release().unwrap(),
        |case| _ = case.complete().unwrap(),
        |case| _ = case.fail("transient").unwrap(),
        |case| _ = case.fail("permanent").unwrap(),
        |case| _ = case.delay(START + HOUR).unwrap(),
        Case::suspend,
        |case| _ = case.revoke(None).unwrap(),
        |case| _ = case.cancel(None).unwrap(),
        |case| {
            let fence = Some(case.fence());
            case.cancel(fence).unwrap();
        },
        |case| case.pass_and_pump(LEASE_TTL),
        |case| {
            case.request_stop();
            case.pass_and_pump(seconds(30));
        },
        |case| {
            case.store.settings.reclaim_grace = MINUTE;
            case.pass_and_pump(LEASE_TTL);
            assert!(case.releases().is_empty(), "not while the grace runs");
            case.pass_and_pump(MINUTE);
        },
    ];
    for (index, end) in ends.into_iter().enumerate() {
        let mut case = Case::with_policy(&json!({"quota_policy_id": quota_id(), "retry_policy": {}}));
        let claimant = case.claim();
        case.renew().unwrap();
        assert!(case.releases().is_empty());
        end(&mut case);
        assert_eq!(case.releases(), [release_of(claimant.grant_id)], "end {index}");
        case.clear_outbox();
        case.cancel(None).ok();
        assert!(case.releases().is_empty(), "end {index}: once");
    }
}

#[test]
fn an_unused_lease_that_goes_back_gives_its_slot_back() {
    let mut case = Case::with_quota();
    let claimant = case.claim();
    case.pass_and_pump(seconds(10));
    assert_eq!(case.releases(), [release_of(claimant.grant_id)]);
}

#[test]
fn however_a_grant_ends_unused_its_slot_is_given_back() {
    let refusal = claim::Refusal {
        cause: Cause::Quota(quota_id()),
        detail: "full".to_owned(),
        generation: 3,
    };
    let mut blocked = Case::with_quota();
    let claimant = blocked.grant();
    blocked
        .act(|execution, context| claim::block(execution, claimant.grant_id, &refusal, context))
        .unwrap();
    assert_eq!(blocked.releases(), [release_of(claimant.grant_id)]);
    assert_eq!(blocked.happened(), ["grant_dropped", "blocked"]);
    let ends: [(Move, &str); 3] = [
        (|case| case.pass_and_pump(seconds(5)), "grant_lapsed"),
        (|case| _ = case.cancel(None).unwrap(), "grant_dropped"),
        (|case| case.hold(), "grant_dropped"),
    ];
    for (end, happened) in ends {
        let mut case = Case::with_quota();
        let claimant = case.grant();
        end(&mut case);
        assert_eq!(case.releases(), [release_of(claimant.grant_id)]);
        assert_eq!(case.execution().grant(), None);
        assert_eq!(case.happened()[0], happened);
    }
}

#[test]
fn without_a_quota_there_is_no_slot_to_give_back() {
    let mut case = Case::new().leased();
    case.release().unwrap();
    case.grant();
    case.hold();
    assert!(case.execution().outbox.is_empty());
}

#[test]
fn an_effect_makes_its_record_due_until_it_has_arrived() {
    let mut case = Case::with_quota().leased();
    case.pass(SECOND);
    case.release().unwrap();
    assert_eq!(case.due_at(), Some(START + SECOND));
    case.act(|execution, context| Ok(outbox::arrived(execution, &[], &[], context)))
        .unwrap();
    assert!(case.draft.is_empty());
    case.clear_outbox();
    assert_eq!((case.due_at(), case.execution().outbox.len()), (None, 0));
}
