//! What runs when a budget is breached.

use super::*;

#[test]
fn a_hard_breach_of_a_cancelling_budget_stops_what_runs_until_it_is_cured() {
    let mut budget = cancelling_with_hard_limit(10);
    spend(&mut budget, [("tokens", 10)]);
    assert_eq!(budget.stop, None);
    spend(&mut budget, [("tokens", 1)]);
    assert_eq!(budget::due_at(&budget), Some(at(1)));
    let stop = budget::advance(&mut budget, at(1)).stop.unwrap();
    assert_eq!(
        stop.reason,
        format!("budget {ID}: tokens 11/10 is above its hard limit")
    );
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
fn a_lease_admitted_before_the_breach_is_found_within_10_seconds_until_none_can_appear() {
    let mut budget = cancelling_with_hard_limit(10);
    spend(&mut budget, [("tokens", 11)]);
    let mut began_at = 2;
    for next in [10_002, 20_002, 30_002, 40_002, 50_002, 60_001] {
        budget::stopped(&mut budget, at(began_at));
        assert_eq!(budget::due_at(&budget), Some(at(next)));
        assert_eq!(budget::advance(&mut budget, at(next - 1)).stop, None);
        assert!(budget::advance(&mut budget, at(next)).stop.is_some());
        began_at = next;
    }
    budget::stopped(&mut budget, at(60_001));
    assert_eq!(budget::due_at(&budget), None);
}

#[test]
fn a_sweep_that_began_before_the_breach_is_not_its_own() {
    let mut budget = cancelling_with_hard_limit(10);
    spend(&mut budget, [("tokens", 11)]);
    budget::stopped(&mut budget, at(0));
    assert_eq!(budget::due_at(&budget), Some(at(1)), "it is still to come");
}

#[test]
fn the_end_of_a_breach_is_told_to_whoever_was_asked() {
    let mut budget = cancelling_with_hard_limit(10);
    spend(&mut budget, [("tokens", 11)]);
    let stop = budget::advance(&mut budget, at(1)).stop.unwrap();
    reset(&mut budget, at(2));
    assert_eq!(budget::due_at(&budget), Some(at(2)));
    let report = budget::report_usage(&mut budget, &usage([("tokens", 11)]), &[], at(3)).unwrap();
    assert!(matches!(report.outcome, Reported::HardBreach { .. }));
    let work = budget::advance(&mut budget, at(3));
    assert_eq!(work.withdraw, Some(stop.generation));
    assert!(work.stop.unwrap().generation > stop.generation, "a breach of its own");
    budget::withdrawn(&mut budget, stop.generation - 1);
    assert!(budget.withdrawal.is_some(), "not yet");
    budget::withdrawn(&mut budget, stop.generation);
    assert_eq!(
        (budget.withdrawal, budget::advance(&mut budget, at(4)).withdraw),
        (None, None)
    );
}

#[test]
fn a_deleted_budget_withdraws_what_it_asked() {
    let mut budget = cancelling_with_hard_limit(10);
    spend(&mut budget, [("tokens", 11)]);
    budget::delete(&mut budget, at(2));
    let work = budget::advance(&mut budget, at(2));
    assert_eq!((work.stop, work.withdraw.is_some()), (None, true));
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
