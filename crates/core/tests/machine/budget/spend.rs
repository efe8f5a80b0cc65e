//! report_usage: what counts, what is answered.

use super::*;

#[test]
fn usage_up_to_the_limit_is_no_breach_but_closes_admission() {
    let mut budget = with_hard_limit(10);
    assert_eq!(spend(&mut budget, [("tokens", 9)]), Reported::Ok);
    assert!(!is_closed(&budget, at(1)));
    assert_eq!(spend(&mut budget, [("tokens", 1)]), Reported::Ok);
    assert_eq!(
        budget::view(&budget, at(1)).state,
        BudgetState::Closed(excess("tokens", 10, 10))
    );
    assert_eq!(budget.hard_breaches, 0);
}

#[test]
fn a_report_that_passes_a_hard_limit_is_recorded_and_names_every_dimension() {
    let definition = definition([
        ("cents", limits(None, 5)),
        ("requests", limits(1, 100)),
        ("tokens", limits(None, 10)),
    ]);
    let mut budget = created(&definition);
    let all = vec![excess("cents", 6, 5), excess("tokens", 11, 10)];
    let answer = spend(&mut budget, [("cents", 6), ("requests", 2), ("tokens", 11)]);
    assert_eq!(
        answer,
        Reported::HardBreach {
            first: all[0].clone(),
            all
        }
    );
    assert_eq!(budget.usage.values().sum::<u64>(), 19);
    assert_eq!((budget.hard_breaches, budget.soft_breaches), (1, 0));
    let breach = budget.last_breach.unwrap();
    assert_eq!(
        (breach.kind, breach.at, breach.excess),
        (BreachKind::Hard, at(1), excess("cents", 6, 5))
    );
}

#[test]
fn a_soft_breach_is_an_answer_and_does_not_close_the_budget() {
    let mut budget = created(&definition([("tokens", limits(5, 10))]));
    assert_eq!(spend(&mut budget, [("tokens", 5)]), Reported::Ok);
    let over = excess("tokens", 6, 5);
    assert_eq!(
        spend(&mut budget, [("tokens", 1)]),
        Reported::SoftBreach {
            first: over.clone(),
            all: vec![over]
        }
    );
    assert_eq!((budget.soft_breaches, budget.hard_breaches), (1, 0));
    assert_eq!(budget.last_breach.as_ref().unwrap().kind, BreachKind::Soft);
    assert!(!is_closed(&budget, at(1)));
}

#[test]
fn a_hard_limit_of_zero_admits_nothing_from_the_start() {
    let budget = with_hard_limit(0);
    assert!(is_closed(&budget, at(0)));
    assert!(!is_closed(
        &created(&definition([("tokens", Limits::default())])),
        at(0)
    ));
}

#[test]
fn dimensions_without_a_limit_are_counted_too() {
    let mut budget = with_hard_limit(10);
    assert_eq!(spend(&mut budget, [("cents", 700), ("tokens", 1)]), Reported::Ok);
    let view = budget::view(&budget, at(1));
    assert_eq!(view.dimensions[&dimension("cents")].usage, 700);
    assert_eq!(raise(&mut budget, "cents", limits(None, 600), at(2)), Updated::Now);
    assert!(is_closed(&budget, at(2)));
}

#[test]
fn invented_dimensions_cannot_keep_limited_ones_from_counting() {
    let mut budget = with_hard_limit(10);
    for index in 0..200 {
        spend(&mut budget, [(&format!("d{index}"), 1)]);
    }
    assert_eq!(budget.usage.len(), 64);
    assert!(matches!(
        spend(&mut budget, [("tokens", 11)]),
        Reported::HardBreach { .. }
    ));
}

#[test]
fn usage_stops_at_what_every_store_counts_exactly() {
    let mut budget = with_hard_limit(AMOUNT_MAX - 1);
    spend(&mut budget, [("tokens", AMOUNT_MAX)]);
    spend(&mut budget, [("tokens", AMOUNT_MAX)]);
    assert_eq!(budget.spent(&dimension("tokens")), AMOUNT_MAX);
}

#[test]
fn a_report_no_budget_takes_changes_nothing() {
    let mut budget = with_hard_limit(10);
    let before = budget.clone();
    let many = (0..65).map(|index| (dimension(&format!("d{index}")), 1)).collect();
    for report in [usage([]), usage([("tokens", AMOUNT_MAX + 1)]), UsageReport::new(many)] {
        let refused = budget::report_usage(&mut budget, &report, &[], at(1)).unwrap_err();
        assert_eq!(refused.code, Code::InvalidInput);
    }
    assert_eq!(budget, before);
}

#[test]
fn a_report_with_an_identity_is_remembered_from_its_first_use() {
    let mut budget = with_hard_limit(10);
    let identity = UsageIdentity::Key(IdempotencyKey::parse("k").unwrap());
    let report = usage([("tokens", 1)]).identified_by(identity.clone());
    let first = budget::report_usage(&mut budget, &report, &[], at(5)).unwrap();
    let [remember] = &first.remember[..] else {
        panic!("{:?}", first.remember)
    };
    assert_eq!(
        (&remember.identity, remember.until),
        (&identity, at(5) + Duration::from_hours(24))
    );
    let again = budget::report_usage(&mut budget, &report, &[None], at(6)).unwrap();
    assert_eq!((again.outcome, again.remember), (Reported::AlreadyApplied, vec![]));
    assert_eq!(budget.spent(&dimension("tokens")), 1);
}

#[test]
fn an_effect_that_is_sent_again_is_answered_as_the_budget_stands_and_counts_once() {
    let mut budget = with_hard_limit(10);
    let effect_id = Some(EffectId::from_uuid(Uuid::from_u128(1)));
    let other = Some(EffectId::from_uuid(Uuid::from_u128(2)));
    let report = UsageReport {
        effect_id,
        ..usage([("tokens", 11)])
    };
    let first = budget::report_usage(&mut budget, &report, &[], at(5)).unwrap();
    let again = budget::report_usage(&mut budget, &report, &[other, effect_id], at(6)).unwrap();
    assert!(matches!(first.outcome, Reported::HardBreach { .. }));
    assert_eq!((&again.outcome, again.remember), (&first.outcome, vec![]));
    let another = budget::report_usage(&mut budget, &report, &[other], at(7)).unwrap();
    assert_eq!(another.outcome, Reported::AlreadyApplied);
    assert_eq!((budget.spent(&dimension("tokens")), budget.hard_breaches), (11, 1));
}

#[test]
fn an_effect_is_known_for_a_day_however_short_the_window_of_its_key() {
    let key = UsageIdentity::Key(IdempotencyKey::parse("k").unwrap());
    let id = EffectId::from_uuid(Uuid::from_u128(1));
    let hours = Duration::from_hours;
    let names = |window| {
        let report = UsageReport {
            dedup_window: window,
            effect_id: Some(id),
            ..usage([("tokens", 1)]).identified_by(key.clone())
        };
        report.names().collect::<Vec<_>>()
    };
    let effect = (UsageIdentity::Effect(id), hours(24));
    for short in [Duration::ZERO, hours(23)] {
        assert_eq!(names(short), [(key.clone(), short), effect.clone()]);
    }
    assert_eq!(names(hours(48)), [(key.clone(), hours(48))], "the key tells the effect");
}

#[test]
fn identities_of_different_kinds_never_meet() {
    let text = "00000000-0000-0000-0000-000000000001";
    let identities = [
        UsageIdentity::Key(IdempotencyKey::parse(text).unwrap()),
        UsageIdentity::Request(RequestId::parse(text).unwrap()),
        UsageIdentity::Effect(EffectId::from_uuid(Uuid::from_u128(1))),
        UsageIdentity::Call(ExecutionId::new(0, Uuid::from_u128(1)), RequestId::parse(text).unwrap()),
        UsageIdentity::Call(ExecutionId::new(1, Uuid::from_u128(1)), RequestId::parse(text).unwrap()),
    ];
    let distinct: BTreeSet<String> = identities.iter().map(ToString::to_string).collect();
    assert_eq!(distinct.len(), 5);
}

#[test]
fn usage_of_a_deleted_budget_is_consumed_without_a_trace() {
    let mut budget = with_hard_limit(10);
    budget::delete(&mut budget, at(1));
    let before = budget.clone();
    assert_eq!(spend(&mut budget, [("tokens", 11)]), Reported::Gone);
    assert_eq!(budget, before);
}
