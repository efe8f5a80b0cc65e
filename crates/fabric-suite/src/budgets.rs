//! Budgets: what may be spent, and what happens when it is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ff_core::command::budget::{
    BudgetCreated, BudgetReset, BudgetState, ChargeBudget, CreateBudget, Deleted, Reported, ResetBudget, UpdateLimits,
    Updated,
};
use ff_core::command::page::{ListOf, PageRequest};
use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::id::BudgetId;
use ff_core::name::{Dimension, IdempotencyKey};
use ff_core::record::{Excess, Limits};
use ff_core::state::{BlockingReason, EligibilityState, PublicState};
use ff_core::time::Duration;
use serde_json::json;

use crate::Harness;
use crate::scene::{
    HOUR, MINUTE, SECOND, Scene, WORKER, at_once, budget_of, deltas, first, fresh, list, other_namespace, refused,
    request, tokens, under, with_policy,
};

pub(crate) async fn a_budget_is_created_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget_id = BudgetId::from_uuid(fresh());
    let create = |hard| CreateBudget {
        budget_id: Some(budget_id),
        ..budget_of(hard)
    };
    let first = scene.fabric.create_budget(create(10)).await.unwrap();
    assert_eq!((first.budget_id, first.created), (budget_id, BudgetCreated::Created));
    let again = scene.fabric.create_budget(create(10)).await.unwrap();
    assert_eq!(again.created, BudgetCreated::Exists);
    assert_eq!(
        refused(scene.fabric.create_budget(create(11)).await),
        Code::AlreadyExists
    );
}

pub(crate) async fn a_budget_must_make_sense(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let of = |soft, hard| CreateBudget {
        dimensions: [(tokens(), Limits { soft, hard })].into(),
        ..budget_of(10)
    };
    let hasty = CreateBudget {
        reset_interval: Some(Duration::from_millis(999)),
        ..budget_of(10)
    };
    for wrong in [of(Some(11), Some(10)), of(None, Some(1 << 53)), hasty] {
        assert_eq!(refused(scene.fabric.create_budget(wrong).await), Code::InvalidInput);
    }
    assert!(scene.fabric.list_budgets(list()).await.unwrap().items.is_empty());
}

pub(crate) async fn an_unknown_budget_is_not_found(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (id, fabric) = (BudgetId::from_uuid(fresh()), &scene.fabric);
    let answers = [
        refused(fabric.get_budget(id).await),
        refused(fabric.delete_budget(id).await),
        refused(fabric.reset_budget(On::new(id, ResetBudget::default())).await),
        refused(fabric.update_limits(On::new(id, limits(None, Some(1)))).await),
        refused(scene.spend(id, 1).await),
    ];
    assert_eq!(answers, [Code::BudgetNotFound; 5]);
}

pub(crate) async fn spending_is_answered_by_how_much_is_left(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    assert_eq!(scene.spend(budget, 5).await.unwrap(), Reported::Ok);
    let excess = |current, limit| Excess {
        dimension: tokens(),
        current,
        limit,
    };
    let soft = scene.spend(budget, 1).await.unwrap();
    assert_eq!(
        soft,
        Reported::SoftBreach {
            first: excess(6, 5),
            all: vec![excess(6, 5)]
        }
    );
    let hard = scene.spend(budget, 6).await.unwrap();
    assert_eq!(
        hard,
        Reported::HardBreach {
            first: excess(12, 10),
            all: vec![excess(12, 10)]
        }
    );
    let view = scene.fabric.get_budget(budget).await.unwrap();
    assert_eq!(view.dimensions[&tokens()].usage, 12, "the money is spent");
    assert_eq!((view.soft_breaches, view.hard_breaches), (1, 1));
    assert_eq!(view.last_breach.unwrap().excess, excess(12, 10));
    assert_eq!(view.state, BudgetState::Closed(excess(12, 10)));
}

pub(crate) async fn a_report_counts_in_all_its_dimensions(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let cents = Dimension::parse("cents").unwrap();
    let charge = ChargeBudget {
        deltas: [(tokens(), 11), (cents.clone(), 7)].into(),
        dedup_key: None,
        request_id: None,
    };
    let answer = scene.fabric.charge_budget(On::new(budget, charge)).await.unwrap();
    assert!(matches!(answer, Reported::HardBreach { .. }));
    let view = scene.fabric.get_budget(budget).await.unwrap();
    let usage: Vec<_> = view.dimensions.values().map(|dimension| dimension.usage).collect();
    assert_eq!(usage, [7, 11], "cents without a limit, and tokens");
}

pub(crate) async fn a_report_needs_something_to_report(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    for deltas in [BTreeMap::new(), deltas(1 << 53)] {
        let charge = ChargeBudget {
            deltas,
            dedup_key: None,
            request_id: None,
        };
        let answer = scene.fabric.charge_budget(On::new(budget, charge)).await;
        assert_eq!(refused(answer), Code::InvalidInput);
    }
    assert_eq!(scene.spent(budget).await, 0);
}

pub(crate) async fn a_repeated_report_counts_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let by_key = ChargeBudget {
        deltas: deltas(1),
        dedup_key: Some(IdempotencyKey::parse("bill-1").unwrap()),
        request_id: None,
    };
    let by_request = ChargeBudget {
        deltas: deltas(2),
        dedup_key: None,
        request_id: request("bill-1"),
    };
    for charge in [by_key, by_request] {
        let charge = On::new(budget, charge);
        assert_eq!(scene.fabric.charge_budget(charge.clone()).await.unwrap(), Reported::Ok);
        let again = scene.fabric.charge_budget(charge).await.unwrap();
        assert_eq!(again, Reported::AlreadyApplied);
    }
    assert_eq!(scene.spent(budget).await, 3);
}

pub(crate) async fn a_report_is_recognised_for_a_day(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let charge = ChargeBudget {
        deltas: deltas(1),
        dedup_key: Some(IdempotencyKey::parse("bill-1").unwrap()),
        request_id: None,
    };
    let charge = On::new(budget, charge);
    scene.fabric.charge_budget(charge.clone()).await.unwrap();
    scene.after(Duration::from_hours(23)).await;
    let within = scene.fabric.charge_budget(charge.clone()).await.unwrap();
    assert_eq!(within, Reported::AlreadyApplied);
    scene.after(HOUR).await;
    assert_eq!(scene.fabric.charge_budget(charge).await.unwrap(), Reported::Ok);
}

pub(crate) async fn reports_at_once_are_all_counted(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let charges = (0..10).map(|_| {
        let fabric = Arc::clone(&scene.fabric);
        let charge = ChargeBudget {
            deltas: deltas(1),
            dedup_key: None,
            request_id: None,
        };
        async move { fabric.charge_budget(On::new(budget, charge)).await.unwrap() }
    });
    assert_eq!(at_once(charges).await.len(), 10);
    assert_eq!(scene.spent(budget).await, 10);
}

pub(crate) async fn a_closed_budget_blocks_its_own_work_only(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    scene.spend(budget, 10).await.unwrap();
    let blocked = scene
        .submit(CreateExecution {
            priority: 9,
            ..under(budget)
        })
        .await;
    let free = scene.submit_plain().await;
    assert_eq!(
        scene.claim(WORKER).await.execution_id,
        free,
        "the next candidate is tried"
    );
    scene.after(SECOND).await;
    let vector = scene.vector(blocked).await;
    assert_eq!(vector.public_state, PublicState::RateLimited);
    assert_eq!(vector.eligibility_state, EligibilityState::BlockedByBudget);
    assert_eq!(vector.blocking_reason, BlockingReason::WaitingForBudget);
    let detail = scene.detail(blocked).await;
    assert!(
        detail.contains(&budget.to_string()) && detail.contains("tokens 10/10"),
        "{detail}"
    );
}

pub(crate) async fn a_closed_budget_says_since_when_and_how_many_wait(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (budget, other) = (scene.budget().await, scene.budget().await);
    let shown = async |id| scene.fabric.get_budget(id).await.unwrap();
    scene.spend(budget, 4).await.unwrap();
    scene.settle().await;
    assert_eq!(shown(budget).await.closed_since, None);
    scene.after(SECOND).await;
    let before = scene.now().await;
    scene.spend(budget, 7).await.unwrap();
    scene.settle().await;
    let closed_at = shown(budget).await.closed_since.expect("it is closed");
    assert!(
        (before..=scene.now().await).contains(&closed_at),
        "{closed_at} is not {before}"
    );
    for _ in 0..3 {
        scene.submit(under(budget)).await;
    }
    assert!(scene.try_claim(WORKER).await.is_none());
    scene.after(MINUTE).await;
    assert!(scene.try_claim(WORKER).await.is_none());
    scene.spend(budget, 1).await.unwrap();
    scene.settle().await;
    let view = shown(budget).await;
    assert_eq!((view.waiting.n, view.waiting.at_least), (3, false));
    assert_eq!(
        view.closed_since,
        Some(closed_at),
        "what is spent beyond closes nothing again"
    );
    assert_eq!(shown(other).await.waiting.n, 0);
    let all = scene.fabric.list_budgets(list()).await.unwrap().items;
    let waiting: Vec<_> = all.iter().map(|view| view.waiting.n).collect();
    assert_eq!(waiting.iter().sum::<u64>(), 3, "{waiting:?}");
    let raised = limits(None, Some(100));
    scene.fabric.update_limits(On::new(budget, raised)).await.unwrap();
    scene.settle().await;
    let view = shown(budget).await;
    assert_eq!((view.waiting.n, view.closed_since), (0, None));
}

pub(crate) async fn a_limit_of_zero_admits_nothing(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let none = scene.fabric.create_budget(budget_of(0)).await.unwrap().budget_id;
    let id = scene.submit(under(none)).await;
    assert!(scene.try_claim(WORKER).await.is_none());
    scene.after(SECOND).await;
    assert_eq!(scene.state(id).await, PublicState::RateLimited);
}

pub(crate) async fn a_dimension_without_limits_admits_everything(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let free = CreateBudget {
        dimensions: [(tokens(), Limits::default())].into(),
        ..budget_of(0)
    };
    let free = scene.fabric.create_budget(free).await.unwrap().budget_id;
    assert_eq!(scene.spend(free, 1_000_000).await.unwrap(), Reported::Ok);
    let id = scene.submit(under(free)).await;
    assert_eq!(scene.claim(WORKER).await.execution_id, id);
}

pub(crate) async fn every_budget_must_be_open(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (open, closed) = (scene.budget().await, scene.budget().await);
    scene.spend(closed, 10).await.unwrap();
    let id = scene
        .submit(with_policy(&json!({ "budget_ids": [open, closed] })))
        .await;
    assert!(scene.try_claim(WORKER).await.is_none());
    scene
        .fabric
        .reset_budget(On::new(closed, ResetBudget::default()))
        .await
        .unwrap();
    scene.settle().await;
    assert_eq!(scene.claim(WORKER).await.execution_id, id);
}

pub(crate) async fn raising_a_limit_releases_what_waits(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    scene.spend(budget, 10).await.unwrap();
    let id = scene.submit(under(budget)).await;
    assert!(scene.try_claim(WORKER).await.is_none());
    let raise = || On::new(budget, limits(Some(5), Some(20)));
    assert_eq!(scene.fabric.update_limits(raise()).await.unwrap(), Updated::Now);
    assert_eq!(scene.fabric.update_limits(raise()).await.unwrap(), Updated::Unchanged);
    scene.settle().await;
    assert_eq!(scene.claim(WORKER).await.execution_id, id);
}

pub(crate) async fn lowering_a_limit_closes_the_budget(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    scene.spend(budget, 4).await.unwrap();
    scene
        .fabric
        .update_limits(On::new(budget, limits(None, Some(4))))
        .await
        .unwrap();
    scene.submit(under(budget)).await;
    assert!(scene.try_claim(WORKER).await.is_none());
    let view = scene.fabric.get_budget(budget).await.unwrap();
    assert_eq!(view.hard_breaches, 0, "nothing was spent by it");
    let wrong = limits(Some(9), Some(4));
    let answer = scene.fabric.update_limits(On::new(budget, wrong)).await;
    assert_eq!(refused(answer), Code::InvalidInput);
}

pub(crate) async fn a_reset_starts_from_zero(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let periodic = CreateBudget {
        reset_interval: Some(HOUR),
        ..budget_of(10)
    };
    let budget = scene.fabric.create_budget(periodic).await.unwrap().budget_id;
    scene.spend(budget, 10).await.unwrap();
    let before = scene.fabric.get_budget(budget).await.unwrap();
    let reset = On::new(
        budget,
        ResetBudget {
            request_id: request("reset-1"),
        },
    );
    assert_eq!(
        scene.fabric.reset_budget(reset.clone()).await.unwrap(),
        BudgetReset::Now
    );
    scene.spend(budget, 2).await.unwrap();
    assert_eq!(scene.fabric.reset_budget(reset).await.unwrap(), BudgetReset::Already);
    let after = scene.fabric.get_budget(budget).await.unwrap();
    assert_eq!(after.dimensions[&tokens()].usage, 2);
    assert!(after.generation > before.generation);
    assert_eq!(after.next_reset_at, before.next_reset_at, "the rhythm stays");
}

pub(crate) async fn periodic_resets_keep_their_rhythm(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let periodic = CreateBudget {
        reset_interval: Some(HOUR),
        ..budget_of(10)
    };
    let budget = scene.fabric.create_budget(periodic).await.unwrap().budget_id;
    let first = scene.fabric.get_budget(budget).await.unwrap();
    assert_eq!(first.next_reset_at, Some(first.created_at + HOUR));
    scene.spend(budget, 7).await.unwrap();
    scene.after(Duration::from_secs(150 * 60)).await;
    let view = scene.fabric.get_budget(budget).await.unwrap();
    assert_eq!(view.dimensions[&tokens()].usage, 0);
    assert_eq!(view.next_reset_at, Some(first.created_at + Duration::from_hours(3)));
}

pub(crate) async fn a_deleted_budget_limits_nothing(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    scene.spend(budget, 10).await.unwrap();
    let id = scene.submit(under(budget)).await;
    assert!(scene.try_claim(WORKER).await.is_none());
    assert_eq!(scene.fabric.delete_budget(budget).await.unwrap(), Deleted::Now);
    assert_eq!(scene.fabric.delete_budget(budget).await.unwrap(), Deleted::Already);
    scene.settle().await;
    assert_eq!(scene.claim(WORKER).await.execution_id, id);
    assert_eq!(refused(scene.fabric.get_budget(budget).await), Code::BudgetNotFound);
    assert_eq!(refused(scene.spend(budget, 1).await), Code::BudgetNotFound);
    scene.after(Duration::from_secs(2)).await;
    let answer = scene.fabric.create_execution(under(budget)).await;
    assert_eq!(refused(answer), Code::BudgetNotFound);
}

pub(crate) async fn budgets_are_listed_by_namespace_in_pages(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let mut ids = BTreeSet::new();
    for _ in 0..3 {
        ids.insert(scene.budget().await);
    }
    let foreign = CreateBudget {
        namespace: other_namespace(),
        ..budget_of(10)
    };
    scene.fabric.create_budget(foreign).await.unwrap();
    let (mut seen, mut page) = (Vec::new(), first(2));
    loop {
        let request = ListOf { page, ..list() };
        let budgets = scene.fabric.list_budgets(request).await.unwrap();
        seen.extend(budgets.items.iter().map(|view| view.budget_id));
        let Some(cursor) = budgets.next else { break };
        page = PageRequest {
            cursor: Some(cursor),
            limit: Some(2),
        };
    }
    assert_eq!(seen.len(), 3);
    assert_eq!(BTreeSet::from_iter(seen), ids);
}

fn limits(soft: Option<u64>, hard: Option<u64>) -> UpdateLimits {
    UpdateLimits {
        dimensions: [(tokens(), Limits { soft, hard })].into(),
    }
}
