//! What runs when a budget is breached.

use super::*;

#[test]
fn a_hard_breach_of_a_cancelling_budget_stops_what_runs_until_it_is_cured() {
    let mut budget = cancelling_with_hard_limit(10);
    spend(&mut budget, [("tokens", 10)]);
    assert_eq!(budget.stop, None);
    spend(&mut budget, [("tokens", 1)]);
    assert_eq!(budget::due_at(&budget), Some(at(1)));
    let reason = budget::advance(&mut budget, at(1)).stop.unwrap();
    assert_eq!(reason, format!("budget {ID}: tokens 11/10 is above its hard limit"));
    raise(&mut budget, "cents", limits(None, 1), at(2));
    assert!(budget::view(&budget, at(2)).stop_pending.is_some());
    raise(&mut budget, "tokens", limits(None, 11), at(2));
    assert_eq!((budget.stop, budget::view(&budget, at(2)).stop_pending), (None, None));
}

#[test]
fn a_reset_ends_the_order_to_stop() {
    let mut budget = cancelling_with_hard_limit(10);
    spend(&mut budget, [("tokens", 11)]);
    reset(&mut budget, at(2));
    assert_eq!((budget.stop, budget::advance(&mut budget, at(2)).stop), (None, None));
}

#[test]
fn a_blocking_budget_stops_nothing() {
    let mut budget = with_hard_limit(10);
    spend(&mut budget, [("tokens", 11)]);
    assert_eq!((budget.stop, budget::due_at(&budget)), (None, None));
}

#[test]
fn a_lease_admitted_before_the_breach_is_found_by_a_second_look() {
    let mut budget = cancelling_with_hard_limit(10);
    spend(&mut budget, [("tokens", 11)]);
    budget::stopped(&mut budget, at(2));
    assert_eq!(budget::due_at(&budget), Some(at(60_001)));
    assert_eq!(budget::advance(&mut budget, at(60_000)).stop, None);
    assert!(budget::advance(&mut budget, at(60_001)).stop.is_some());
    budget::stopped(&mut budget, at(60_001));
    assert_eq!(budget::due_at(&budget), None);
}

#[test]
fn further_breaches_do_not_start_the_order_to_stop_again() {
    let mut budget = cancelling_with_hard_limit(10);
    spend(&mut budget, [("tokens", 11)]);
    budget::stopped(&mut budget, at(60_001));
    let report = budget::report_usage(&mut budget, &usage([("tokens", 1)]), &[], at(70_000)).unwrap();
    assert!(matches!(report.outcome, Reported::HardBreach { .. }));
    assert_eq!(
        budget::due_at(&budget),
        None,
        "nothing was admitted since the first breach"
    );
}

#[test]
fn lowering_a_limit_closes_the_budget_but_stops_nothing_until_more_is_spent() {
    let mut budget = cancelling_with_hard_limit(10);
    spend(&mut budget, [("tokens", 8)]);
    raise(&mut budget, "tokens", limits(None, 5), at(2));
    assert!(is_closed(&budget, at(2)));
    assert_eq!((budget.stop, budget.hard_breaches), (None, 0));
    spend(&mut budget, [("tokens", 0)]);
    assert!(budget.stop.is_some());
}
