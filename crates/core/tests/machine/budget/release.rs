//! What waits for a budget.

use super::*;

#[test]
fn work_that_waits_is_due_once_the_budget_opens() {
    let mut budget = with_hard_limit(10);
    spend(&mut budget, [("tokens", 10)]);
    budget::mark_blocked(&mut budget, Partition::flow(3));
    budget::mark_blocked(&mut budget, Partition::flow(9));
    assert_eq!(budget::due_at(&budget), None);
    assert_eq!(budget::advance(&mut budget, at(2)), BudgetWork::default());
    raise(&mut budget, "tokens", limits(None, 11), at(5));
    assert_eq!(budget::due_at(&budget), Some(at(5)));
    let release = budget::advance(&mut budget, at(6)).release.unwrap();
    assert_eq!(release.partitions, [Partition::flow(3), Partition::flow(9)]);
    assert_eq!((release.room, release.round), (Headroom::UNLIMITED, budget.generation));
}

#[test]
fn a_release_goes_on_until_every_partition_is_empty() {
    let mut budget = with_hard_limit(10);
    budget::mark_blocked(&mut budget, Partition::flow(3));
    budget::mark_blocked(&mut budget, Partition::flow(9));
    let round = budget::advance(&mut budget, at(1)).release.unwrap().round;
    budget::forget_blocked(&mut budget, Partition::flow(3), round);
    assert_eq!(budget::due_at(&budget), Some(at(1)));
    let round = budget::advance(&mut budget, at(2)).release.unwrap().round;
    budget::forget_blocked(&mut budget, Partition::flow(9), round);
    assert_eq!(budget::due_at(&budget), None);
}

/// A scheduler reads a closed budget, and everything else happens before its block lands.
#[test]
fn a_block_that_lands_after_the_release_looked_is_either_kept_or_noticed() {
    let mut budget = with_hard_limit(10);
    spend(&mut budget, [("tokens", 10)]);
    let read = budget::view(&budget, at(1)).generation;
    budget::mark_blocked(&mut budget, Partition::flow(3));
    reset(&mut budget, at(2));
    let round = budget::advance(&mut budget, at(3)).release.unwrap().round;
    budget::forget_blocked(&mut budget, Partition::flow(3), round);
    assert!(budget.blocked_in.is_empty());
    assert_ne!(
        budget.generation, read,
        "the scheduler sees that it must release what it blocked"
    );

    let round = budget.generation;
    spend(&mut budget, [("tokens", 10)]);
    budget::mark_blocked(&mut budget, Partition::flow(3));
    budget::forget_blocked(&mut budget, Partition::flow(3), round);
    assert!(
        !budget.blocked_in.is_empty(),
        "a mark made after the release began is not forgotten"
    );
}

#[test]
fn deleting_a_budget_releases_what_waits_for_it() {
    let mut budget = with_hard_limit(0);
    budget::mark_blocked(&mut budget, Partition::flow(3));
    assert_eq!(budget::due_at(&budget), None);
    budget::delete(&mut budget, at(4));
    assert_eq!(budget::due_at(&budget), Some(at(4)));
    assert!(budget::advance(&mut budget, at(4)).release.is_some());
}

#[test]
fn a_refusal_names_budget_dimension_usage_and_limit() {
    let mut budget = created(&definition([("cents", limits(None, 50)), ("tokens", limits(None, 10))]));
    spend(&mut budget, [("cents", 1), ("tokens", 12)]);
    let view = budget::view(&budget, at(2));
    let open = BudgetId::from_uuid(Uuid::from_u128(1));
    let open_view = budget::view(&with_hard_limit(1), at(2));
    let refusal = judge_budgets([(open, Some(&open_view)), (ID, Some(&view))]).unwrap_err();
    assert_eq!(
        (refusal.cause, refusal.generation),
        (Cause::Budget(ID), view.generation)
    );
    assert_eq!(refusal.detail, format!("budget {ID}: tokens 12/10"));
}

#[test]
fn a_lost_budget_keeps_its_work_waiting_until_it_is_created_again() {
    let refusal = judge_budgets([(ID, None)]).unwrap_err();
    assert_eq!(refusal.cause, Cause::Budget(ID));
    assert_ne!(refusal.generation, with_hard_limit(1).generation);
}
