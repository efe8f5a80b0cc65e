//! Reset, changed limits, deletion.

use super::*;

#[test]
fn a_reset_zeroes_usage_and_moves_the_generation() {
    let mut budget = with_hard_limit(10);
    spend(&mut budget, [("tokens", 12)]);
    assert_eq!(reset(&mut budget, at(2)), BudgetReset::Now);
    assert_eq!((budget.spent(&dimension("tokens")), budget.generation), (0, 2));
    assert_eq!(budget.hard_breaches, 1, "breaches are counted over the whole life");
}

#[test]
fn a_repeated_reset_request_spares_what_was_spent_since() {
    let mut budget = with_hard_limit(10);
    let command = ResetBudget {
        request_id: Some(RequestId::parse("r1").unwrap()),
    };
    assert_eq!(budget::reset(&mut budget, &command, at(2)), Ok(BudgetReset::Now));
    spend(&mut budget, [("tokens", 3)]);
    assert_eq!(budget::reset(&mut budget, &command, at(3)), Ok(BudgetReset::Already));
    assert_eq!((budget.spent(&dimension("tokens")), budget.generation), (3, 2));
}

#[test]
fn a_late_periodic_reset_keeps_its_rhythm() {
    let mut budget = resetting_every(1_000);
    assert_eq!(budget::due_at(&budget), Some(at(1_000)));
    spend(&mut budget, [("tokens", 4)]);
    budget::advance(&mut budget, at(999));
    assert_eq!(budget.spent(&dimension("tokens")), 4);
    budget::advance(&mut budget, at(3_500));
    assert_eq!(
        (budget.spent(&dimension("tokens")), budget.next_reset_at),
        (0, Some(at(4_000)))
    );
    budget::advance(&mut budget, at(4_000));
    assert_eq!((budget.next_reset_at, budget.generation), (Some(at(5_000)), 3));
}

#[test]
fn a_manual_reset_keeps_the_rhythm_too() {
    let mut budget = resetting_every(1_000);
    reset(&mut budget, at(300));
    assert_eq!(budget.next_reset_at, Some(at(1_000)));
    reset(&mut budget, at(2_300));
    assert_eq!(budget.next_reset_at, Some(at(3_000)));
}

#[test]
fn a_reset_that_is_due_happens_before_the_report_or_read_that_finds_it() {
    let mut budget = resetting_every(1_000);
    spend(&mut budget, [("tokens", 10)]);
    assert!(is_closed(&budget, at(999)));
    assert!(!is_closed(&budget, at(1_000)));
    let report = budget::report_usage(&mut budget, &usage([("tokens", 1)]), &[], at(1_000)).unwrap();
    assert_eq!(report.outcome, Reported::Ok);
    assert_eq!(budget.spent(&dimension("tokens")), 1);
}

#[test]
fn changed_limits_move_the_generation_and_equal_ones_do_not() {
    let mut budget = with_hard_limit(10);
    assert_eq!(
        raise(&mut budget, "tokens", limits(None, 10), at(1)),
        Updated::Unchanged
    );
    assert_eq!(budget.generation, 1);
    assert_eq!(raise(&mut budget, "cents", limits(None, 3), at(1)), Updated::Now);
    assert_eq!(budget.generation, 2);
    assert_eq!(
        budget.dimensions[&dimension("tokens")].hard,
        Some(10),
        "what is not named stays"
    );
}

#[test]
fn a_deleted_budget_limits_nothing_and_answers_not_found() {
    let mut budget = with_hard_limit(0);
    assert_eq!(budget::delete(&mut budget, at(1)), Deleted::Now);
    assert_eq!(budget.generation, 2);
    assert_eq!(budget::delete(&mut budget, at(2)), Deleted::Already);
    let view = budget::view(&budget, at(2));
    assert_eq!(view.state, BudgetState::Deleted);
    assert_eq!(judge_budgets([(ID, Some(&view))]), Ok(()));
    let command = UpdateLimits {
        dimensions: BTreeMap::new(),
    };
    let refusals = [
        budget::update_limits(&mut budget, &command, at(3)).unwrap_err(),
        budget::reset(&mut budget, &ResetBudget::default(), at(3)).unwrap_err(),
        budget::get(&budget, at(3)).unwrap_err(),
    ];
    assert!(refusals.iter().all(|refusal| refusal.code == Code::BudgetNotFound));
}

#[test]
fn a_deleted_budget_never_resets_again() {
    let mut budget = resetting_every(1_000);
    budget::delete(&mut budget, at(1));
    assert_eq!(budget::due_at(&budget), None);
}
