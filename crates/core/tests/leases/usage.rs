//! Usage on the attempt and in the outbox, and the requests a record remembers.

use std::collections::BTreeMap;

use ff_core::command::lease::{ReportUsage, UsageRecorded};
use ff_core::error::Code;
use ff_core::id::EffectId;
use ff_core::name::{IdempotencyKey, RequestId};
use ff_core::record::{AMOUNT_MAX, Effect, EffectKind, Happening, RequestLog, RequestOutcome};

use crate::running::{Case, budget_id, code};

fn key(text: &str) -> Option<IdempotencyKey> {
    Some(IdempotencyKey::parse(text).unwrap())
}

fn request(text: &str) -> Option<RequestId> {
    Some(RequestId::parse(text).unwrap())
}

#[test]
fn usage_stands_on_the_attempt_and_waits_for_its_budget_once() {
    let mut case = Case::new().leased();
    let usage = case.usage();
    assert_eq!(case.report(&usage).unwrap(), UsageRecorded::Now);
    let effect = Effect {
        id: usage.effect_id,
        kind: EffectKind::ReportUsage {
            budget_id: usage.budget_id,
            deltas: usage.deltas.clone(),
            dedup_key: None,
        },
    };
    assert_eq!((case.execution().outbox, case.tokens()), (vec![effect], 5));
    let more = case.usage();
    case.report(&more).unwrap();
    assert_eq!((case.execution().outbox.len(), case.tokens()), (2, 10));
    let line = case.history.pop().unwrap();
    assert_eq!(
        (line.what, line.detail),
        (Happening::UsageReported, Some(format!("budget {}", budget_id(1))))
    );
}

#[test]
fn usage_of_two_budgets_and_dimensions_is_kept_apart() {
    let mut case = Case::new().leased();
    let mut usage = case.usage();
    case.report(&usage).unwrap();
    usage.budget_id = budget_id(2);
    case.report(&usage).unwrap();
    usage.deltas = BTreeMap::from([("cents".parse().unwrap(), 1)]);
    case.report(&usage).unwrap();
    let kept = case.attempt().usage;
    assert_eq!(kept[&budget_id(1)].values().collect::<Vec<_>>(), [&5]);
    assert_eq!(kept[&budget_id(2)].values().collect::<Vec<_>>(), [&1, &5]);
}

#[test]
fn usage_never_overflows() {
    let mut case = Case::new().leased();
    let mut usage = case.usage();
    for _ in 0..3 {
        usage.deltas = BTreeMap::from([("tokens".parse().unwrap(), AMOUNT_MAX)]);
        case.report(&usage).unwrap();
    }
    assert!(case.tokens() >= AMOUNT_MAX);
}

#[test]
fn a_repeated_report_is_recorded_once_by_its_request_id_or_its_dedup_key() {
    let mut case = Case::new().leased();
    let by_request = ReportUsage {
        request_id: request("r"),
        ..case.usage()
    };
    let by_key = ReportUsage {
        dedup_key: key("k"),
        ..case.usage()
    };
    for (command, tokens) in [(by_request, 5), (by_key, 10)] {
        assert_eq!(case.report(&command).unwrap(), UsageRecorded::Now);
        let again = ReportUsage {
            effect_id: EffectId::from_uuid(case.store.mint()),
            ..command
        };
        assert_eq!(case.report(&again).unwrap(), UsageRecorded::Already);
        assert!(case.draft.is_empty());
        assert_eq!(case.tokens(), tokens);
    }
    let [_, by_key] = &case.execution().outbox[..] else {
        panic!("{:?}", case.execution().outbox)
    };
    assert!(matches!(&by_key.kind, EffectKind::ReportUsage { dedup_key, .. } if *dedup_key == key("k")));
}

#[test]
fn a_report_under_another_request_id_is_recognised_by_its_dedup_key() {
    let mut case = Case::new().leased();
    for (request_id, recorded) in [("r1", UsageRecorded::Now), ("r2", UsageRecorded::Already)] {
        let command = ReportUsage {
            dedup_key: key("k"),
            request_id: request(request_id),
            ..case.usage()
        };
        assert_eq!(case.report(&command).unwrap(), recorded);
    }
    assert_eq!((case.tokens(), case.execution().outbox.len()), (5, 1));
}

#[test]
fn a_dedup_key_is_not_mistaken_for_a_request_id() {
    let mut case = Case::new().leased();
    for (dedup_key, request_id) in [(None, request("x")), (key("x"), None)] {
        let command = ReportUsage {
            dedup_key,
            request_id,
            ..case.usage()
        };
        assert_eq!(case.report(&command).unwrap(), UsageRecorded::Now);
    }
    assert_eq!(case.tokens(), 10);
}

#[test]
fn a_dedup_key_belongs_to_its_budget() {
    let mut case = Case::new().leased();
    for budget in [budget_id(1), budget_id(2)] {
        let command = ReportUsage {
            budget_id: budget,
            dedup_key: key("k"),
            ..case.usage()
        };
        assert_eq!(case.report(&command).unwrap(), UsageRecorded::Now);
    }
}

#[test]
fn a_report_no_budget_would_take_is_refused() {
    let mut case = Case::new().leased();
    let nothing = ReportUsage {
        deltas: BTreeMap::new(),
        ..case.usage()
    };
    assert_eq!(code(case.report(&nothing)), Code::InvalidInput);
}

#[test]
fn at_most_256_effects_wait_for_their_budgets() {
    let mut case = Case::new().leased();
    for _ in 0..256 {
        let usage = case.usage();
        case.report(&usage).unwrap();
    }
    let usage = case.usage();
    assert_eq!(code(case.report(&usage)), Code::Unavailable);
    assert_eq!(case.tokens(), 256 * 5);
    case.clear_outbox();
    assert_eq!(case.report(&usage).unwrap(), UsageRecorded::Now);
}

#[test]
fn a_record_remembers_its_last_16_requests() {
    let ids: Vec<_> = (0..17).map(|n| request(&format!("r{n}"))).collect();
    let mut log = RequestLog::default();
    for id in &ids[..16] {
        log.remember(id.as_ref(), RequestOutcome::Revoked);
    }
    assert!(ids[..16].iter().all(|id| log.find(id.as_ref()).count() == 1));
    log.remember(ids[16].as_ref(), RequestOutcome::Replayed);
    assert_eq!(log.find(ids[0].as_ref()).next(), None, "the oldest is forgotten");
    assert_eq!(log.find(ids[1].as_ref()).next(), Some(&RequestOutcome::Revoked));
    assert_eq!(log.find(ids[16].as_ref()).next(), Some(&RequestOutcome::Replayed));
    let before = log.clone();
    log.remember(None, RequestOutcome::Revoked);
    assert_eq!(log.find(None).next(), None);
    assert_eq!(log, before);
}

#[test]
fn one_request_id_used_for_two_operations_is_remembered_for_both() {
    let mut log = RequestLog::default();
    let id = RequestId::parse("again").ok();
    log.remember(id.as_ref(), RequestOutcome::Revoked);
    log.remember(id.as_ref(), RequestOutcome::Replayed);
    for outcome in [RequestOutcome::Revoked, RequestOutcome::Replayed] {
        assert!(log.remembers(id.as_ref(), &outcome), "{outcome:?}");
    }
    assert!(!log.remembers(None, &RequestOutcome::Revoked), "no id is no request");
}
