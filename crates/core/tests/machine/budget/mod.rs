//! Budgets: limits, breaches, resets, and what waits for them.

mod define;
mod release;
mod reset;
mod sequences;
mod spend;
mod stop;

use std::collections::{BTreeMap, BTreeSet};

use ff_core::command::budget::{
    BudgetCreated, BudgetReset, BudgetState, CreateBudget, Deleted, Reported, ResetBudget, UpdateLimits, Updated,
};
use ff_core::error::Code;
use ff_core::id::{BudgetId, EffectId, ExecutionId};
use ff_core::machine::admission::{Headroom, judge_budgets};
use ff_core::machine::budget::judge::{self as budget, BudgetWork, UsageReport};
use ff_core::name::{Dimension, IdempotencyKey, Namespace, RequestId};
use ff_core::partition::Partition;
use ff_core::record::{AMOUNT_MAX, BreachKind, Budget, Cause, Excess, Limits, OnHardLimit, UsageIdentity};
use ff_core::time::{Duration, Timestamp};
use uuid::Uuid;

const ID: BudgetId = BudgetId::from_uuid(Uuid::from_u128(7));

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn dimension(name: &str) -> Dimension {
    Dimension::parse(name).expect("a dimension")
}

fn limits(soft: impl Into<Option<u64>>, hard: impl Into<Option<u64>>) -> Limits {
    let (soft, hard) = (soft.into(), hard.into());
    Limits { soft, hard }
}

fn definition<const N: usize>(dimensions: [(&str, Limits); N]) -> CreateBudget {
    CreateBudget {
        budget_id: None,
        namespace: Namespace::default_namespace(),
        scope: "team a".to_owned(),
        dimensions: dimensions.map(|(name, limits)| (dimension(name), limits)).into(),
        reset_interval: None,
        on_hard_limit: OnHardLimit::Block,
    }
}

fn created(command: &CreateBudget) -> Budget {
    let mut slot = None;
    assert_eq!(
        budget::create(&mut slot, ID, command, at(0)),
        Ok(BudgetCreated::Created)
    );
    slot.expect("a created budget")
}

fn with_hard_limit(hard: u64) -> Budget {
    created(&definition([("tokens", limits(None, hard))]))
}

fn cancelling_with_hard_limit(hard: u64) -> Budget {
    created(&CreateBudget {
        on_hard_limit: OnHardLimit::CancelActive,
        ..definition([("tokens", limits(None, hard))])
    })
}

fn resetting_every(interval: u64) -> Budget {
    created(&CreateBudget {
        reset_interval: Some(Duration::from_millis(interval)),
        ..definition([("tokens", limits(None, 10))])
    })
}

fn usage<const N: usize>(deltas: [(&str, u64); N]) -> UsageReport {
    UsageReport::new(deltas.map(|(name, delta)| (dimension(name), delta)).into())
}

fn spend<const N: usize>(budget: &mut Budget, deltas: [(&str, u64); N]) -> Reported {
    let report = budget::report_usage(budget, &usage(deltas), &[], at(1));
    report.expect("a report in order").outcome
}

fn raise(budget: &mut Budget, name: &str, limits: Limits, now: Timestamp) -> Updated {
    let dimensions = BTreeMap::from([(dimension(name), limits)]);
    budget::update_limits(budget, &UpdateLimits { dimensions }, now).expect("limits in order")
}

fn reset(budget: &mut Budget, now: Timestamp) -> BudgetReset {
    budget::reset(budget, &ResetBudget::default(), now).expect("a budget that exists")
}

fn excess(name: &str, current: u64, limit: u64) -> Excess {
    let dimension = dimension(name);
    Excess {
        dimension,
        current,
        limit,
    }
}

fn refused_create(command: &CreateBudget) -> Code {
    let refused = budget::create(&mut None, ID, command, at(0));
    refused.expect_err("a definition out of order").code
}

fn is_closed(budget: &Budget, now: Timestamp) -> bool {
    matches!(budget::view(budget, now).state, BudgetState::Closed(_))
}
