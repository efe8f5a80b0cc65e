//! Usage on the attempt and in the outbox.

use std::collections::BTreeMap;

use ff_core::command::budget::Reported;
use ff_core::command::lease::ReportUsage;
use ff_core::error::Code;
use ff_core::machine::Context;
use ff_core::machine::decided::Write;
use ff_core::machine::lease::UsageRecorded;
use ff_core::machine::outbox::{self, Arrived};
use ff_core::name::{IdempotencyKey, RequestId};
use ff_core::record::{AMOUNT_MAX, Effect, EffectKind, Excess, Happening, Record, UsageIdentity};

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
    let id = case.execution().outbox[0].id;
    let effect = Effect {
        id,
        kind: EffectKind::ReportUsage {
            budget_id: usage.budget_id,
            attempt_index: 0,
            deltas: usage.deltas.clone(),
            identity: UsageIdentity::Effect(id),
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
    let usage = case.usage();
    case.report(&usage).unwrap();
    let mut of_another = usage.clone();
    of_another.budget_id = budget_id(2);
    case.report(&of_another).unwrap();
    let mut of_cents = of_another;
    of_cents.deltas = BTreeMap::from([("cents".parse().unwrap(), 1)]);
    case.report(&of_cents).unwrap();
    let kept = case.attempt().usage;
    assert_eq!(kept[&budget_id(1)].values().collect::<Vec<_>>(), [&5]);
    assert_eq!(kept[&budget_id(2)].values().collect::<Vec<_>>(), [&1, &5]);
}

#[test]
fn usage_never_overflows() {
    let mut case = Case::new().leased();
    for _ in 0..3 {
        let mut usage = case.usage();
        usage.deltas = BTreeMap::from([("tokens".parse().unwrap(), AMOUNT_MAX)]);
        case.report(&usage).unwrap();
    }
    assert!(case.tokens() >= AMOUNT_MAX);
}

fn arrive(case: &mut Case, reported: &Reported) {
    let outbox = case.execution().outbox;
    let arrived = outbox.iter().map(|effect| Arrived {
        effect_id: effect.id,
        reported: Some(reported.clone()),
    });
    let arrived: Vec<_> = arrived.collect();
    let settled = case.act(|execution, context| Ok(outbox::arrived(execution, &arrived, &[], context)));
    settled.unwrap();
}

#[test]
fn a_report_that_waits_for_its_budget_is_recognised_by_its_key_or_else_its_request() {
    let mut case = Case::new().leased();
    let by_request = ReportUsage {
        request_id: request("r"),
        ..case.usage()
    };
    let by_key = ReportUsage {
        dedup_key: key("k"),
        request_id: request("another"),
        ..case.usage()
    };
    for (command, tokens) in [(by_request, 5), (by_key, 10)] {
        assert_eq!(case.report(&command).unwrap(), UsageRecorded::Now);
        assert_eq!(case.report(&command).unwrap(), UsageRecorded::Already);
        assert!(case.draft.is_empty());
        assert_eq!(case.tokens(), tokens);
    }
    let id = case.execution().id;
    let identities = [
        UsageIdentity::Call(id, request("r").unwrap()),
        UsageIdentity::Key(key("k").unwrap()),
    ];
    for identity in identities {
        assert!(outbox::outstanding(&case.execution(), budget_id(1), &identity).is_some());
    }
}

#[test]
fn what_the_budget_knows_from_another_report_is_taken_off_the_attempt() {
    let mut case = Case::new().leased();
    let command = ReportUsage {
        request_id: request("r"),
        ..case.usage()
    };
    case.report(&command).unwrap();
    arrive(&mut case, &Reported::Ok);
    assert_eq!(
        case.report(&command).unwrap(),
        UsageRecorded::Now,
        "only the budget knows"
    );
    arrive(&mut case, &Reported::AlreadyApplied);
    assert_eq!((case.tokens(), case.execution().outbox), (5, vec![]));
}

#[test]
fn usage_that_arrives_after_its_attempt_is_settled_where_the_attempt_stands_now() {
    let mut case = Case::new().leased();
    let usage = case.usage();
    case.report(&usage).unwrap();
    let id = case.execution().id;
    let mut execution = case.execution();
    let past = execution.attempt.clone().unwrap();
    if let Some(attempt) = &mut execution.attempt {
        attempt.index += 1;
    }
    let arrived = [Arrived {
        effect_id: execution.outbox[0].id,
        reported: Some(Reported::AlreadyApplied),
    }];
    assert_eq!(outbox::ended_attempts(&execution, &arrived), [0]);
    let context = Context::engine(execution.updated_at);
    let decided = outbox::arrived(&execution, &arrived, &[past], &context);
    let corrected = decided.draft.writes.iter().find_map(|write| match write {
        Write::Put(Record::Attempt(of, attempt)) if *of == id => Some(attempt.usage.clone()),
        _ => None,
    });
    assert_eq!(corrected.unwrap()[&budget_id(1)].values().collect::<Vec<_>>(), [&0]);
    let now = decided.draft.execution(id).unwrap().attempt.clone().unwrap();
    assert_eq!(
        now.usage[&budget_id(1)].values().collect::<Vec<_>>(),
        [&5],
        "another attempt"
    );
}

#[test]
fn a_report_repeated_after_its_lease_is_answered_while_it_is_remembered() {
    let mut case = Case::new().leased();
    let mut reports = Vec::new();
    for number in 0..17 {
        let usage = ReportUsage {
            request_id: request(&format!("r-{number}")),
            ..case.usage()
        };
        case.report(&usage).unwrap();
        reports.push(usage);
    }
    case.clear_outbox();
    case.complete().unwrap();
    assert_eq!(case.report(&reports[16]).unwrap(), UsageRecorded::Already);
    assert_eq!(case.report(&reports[1]).unwrap(), UsageRecorded::Already);
    assert_eq!(code(case.report(&reports[0])), Code::ExecutionNotActive);
}

#[test]
fn the_first_breach_of_each_kind_and_dimension_in_an_attempt_is_history() {
    let mut case = Case::new().leased();
    let excess = |dimension: &str, limit| Excess {
        dimension: dimension.parse().unwrap(),
        current: 11,
        limit,
    };
    let soft = |dimension| Reported::SoftBreach {
        first: excess(dimension, 5),
        all: vec![excess(dimension, 5)],
    };
    let hard = Reported::HardBreach {
        first: excess("cents", 10),
        all: vec![excess("cents", 10), excess("tokens", 10)],
    };
    for reported in [soft("tokens"), soft("tokens"), soft("cents"), hard.clone(), hard] {
        let usage = case.usage();
        case.report(&usage).unwrap();
        arrive(&mut case, &reported);
    }
    let lines = case
        .history
        .iter()
        .filter(|line| line.what.as_str().ends_with("_breach"));
    let lines: Vec<_> = lines.map(|line| (line.what, line.detail.clone().unwrap())).collect();
    let line = |what, text: &str| (what, format!("budget {}: {text}", budget_id(1)));
    let wanted = [
        line(Happening::SoftBreach, "tokens 11/5"),
        line(Happening::SoftBreach, "cents 11/5"),
        line(Happening::HardBreach, "cents 11/10"),
        line(Happening::HardBreach, "tokens 11/10"),
    ];
    assert_eq!(lines, wanted);
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
