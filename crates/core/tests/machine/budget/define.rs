//! What a budget may look like, and when two are the same.

use super::*;

#[test]
fn a_repeated_creation_is_recognised_even_after_its_limits_changed() {
    let command = definition([("tokens", limits(5, 10))]);
    let mut slot = Some(created(&command));
    raise(slot.as_mut().unwrap(), "tokens", limits(5, 20), at(1));
    assert_eq!(
        budget::create(&mut slot, ID, &command, at(2)),
        Ok(BudgetCreated::Exists)
    );
    assert_eq!(slot.unwrap().dimensions[&dimension("tokens")].hard, Some(20));
}

#[test]
fn an_id_stands_for_one_definition_also_after_it_was_deleted() {
    let command = definition([("tokens", limits(5, 10))]);
    let others = [
        CreateBudget {
            scope: "team b".to_owned(),
            ..command.clone()
        },
        CreateBudget {
            namespace: Namespace::parse("other").unwrap(),
            ..command.clone()
        },
        CreateBudget {
            reset_interval: Some(Duration::from_secs(60)),
            ..command.clone()
        },
        CreateBudget {
            on_hard_limit: OnHardLimit::CancelActive,
            ..command.clone()
        },
        definition([("tokens", limits(None, 10))]),
        definition([("cents", limits(5, 10))]),
    ];
    let mut slot = Some(created(&command));
    for other in &others {
        assert_eq!(
            budget::create(&mut slot, ID, other, at(1)).unwrap_err().code,
            Code::AlreadyExists,
            "{other:?}"
        );
    }
    budget::delete(slot.as_mut().unwrap(), at(1));
    assert_eq!(
        budget::create(&mut slot, ID, &command, at(2)).unwrap_err().code,
        Code::AlreadyExists
    );
}

#[test]
fn a_soft_limit_may_equal_its_hard_limit_but_not_exceed_it() {
    created(&definition([("tokens", limits(10, 10))]));
    assert_eq!(
        refused_create(&definition([("tokens", limits(11, 10))])),
        Code::InvalidInput
    );
    let mut budget = with_hard_limit(10);
    let dimensions = BTreeMap::from([(dimension("tokens"), limits(11, 10))]);
    let before = budget.clone();
    let refused = budget::update_limits(&mut budget, &UpdateLimits { dimensions }, at(1));
    assert_eq!(refused.unwrap_err().code, Code::InvalidInput);
    assert_eq!(budget, before);
}

#[test]
fn a_budget_has_at_most_64_dimensions() {
    let many = |count: usize| CreateBudget {
        dimensions: (0..count)
            .map(|index| (dimension(&format!("d{index}")), Limits::default()))
            .collect(),
        ..definition([])
    };
    let mut budget = created(&many(64));
    assert_eq!(refused_create(&many(65)), Code::InvalidInput);
    let dimensions = BTreeMap::from([(dimension("one-more"), Limits::default())]);
    let refused = budget::update_limits(&mut budget, &UpdateLimits { dimensions }, at(1));
    assert_eq!(refused.unwrap_err().code, Code::InvalidInput);
}

#[test]
fn limits_scopes_and_intervals_are_checked() {
    assert_eq!(
        refused_create(&definition([("tokens", limits(None, AMOUNT_MAX + 1))])),
        Code::InvalidInput
    );
    let long = CreateBudget {
        scope: "x".repeat(257),
        ..definition([])
    };
    assert_eq!(refused_create(&long), Code::InvalidInput);
    let short = CreateBudget {
        reset_interval: Some(Duration::from_millis(999)),
        ..definition([])
    };
    assert_eq!(refused_create(&short), Code::InvalidInput);
}

#[test]
fn a_budget_is_stored_as_it_is() {
    let mut budget = cancelling_with_hard_limit(10);
    spend(&mut budget, [("tokens", 11)]);
    budget::mark_blocked(&mut budget, Partition::flow(300));
    let json = serde_json::to_string(&budget).unwrap();
    assert_eq!(serde_json::from_str::<Budget>(&json).unwrap(), budget);
}
