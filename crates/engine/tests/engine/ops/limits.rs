//! Budgets and quota policies: who sees them, how they are listed, what a repetition does.

use super::support::{World, code};
use ff_core::command::budget::{
    BudgetCreated, BudgetReset, ChargeBudget, CreateBudget, Deleted, Reported, ResetBudget, UpdateLimits, Updated,
};
use ff_core::command::page::{ListOf, PageRequest};
use ff_core::command::quota::{CreateQuotaPolicy, LimitChange, QuotaCreated, UpdateQuotaPolicy};
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On};
use ff_core::id::{BudgetId, QuotaPolicyId};
use ff_core::name::{Dimension, IdempotencyKey, Namespace, RequestId};
use ff_core::record::{Limits, OnHardLimit};
use ff_core::time::Duration;
use uuid::Uuid;

fn namespace(name: &str) -> Namespace {
    Namespace::parse(name).unwrap()
}

fn tokens() -> Dimension {
    Dimension::parse("tokens").unwrap()
}

fn limits(soft: u64, hard: u64) -> UpdateLimits {
    let limits = Limits {
        soft: Some(soft),
        hard: Some(hard),
    };
    UpdateLimits {
        dimensions: [(tokens(), limits)].into(),
    }
}

fn budget(of: &str) -> CreateBudget {
    CreateBudget {
        budget_id: None,
        namespace: namespace(of),
        scope: "team".to_owned(),
        dimensions: limits(50, 100).dimensions,
        reset_interval: None,
        on_hard_limit: OnHardLimit::Block,
    }
}

fn quota(of: &str) -> CreateQuotaPolicy {
    CreateQuotaPolicy {
        quota_policy_id: None,
        namespace: namespace(of),
        window: Duration::from_secs(60),
        max_requests_per_window: None,
        max_concurrent: Some(2),
        jitter: Duration::ZERO,
    }
}

fn charge(tokens_spent: u64) -> ChargeBudget {
    ChargeBudget {
        deltas: [(tokens(), tokens_spent)].into(),
        dedup_key: None,
        request_id: None,
    }
}

fn page(of: &str, limit: usize) -> ListOf {
    ListOf {
        namespace: namespace(of),
        page: PageRequest {
            cursor: None,
            limit: Some(limit),
        },
    }
}

#[tokio::test]
async fn a_budget_is_created_once_under_its_id() {
    let world = World::new();
    let command = CreateBudget {
        budget_id: Some(BudgetId::from_uuid(Uuid::from_u128(1))),
        ..budget("default")
    };
    let first = world.engine.create_budget(command.clone()).await.unwrap();
    assert_eq!(first.created, BudgetCreated::Created);
    let second = world.engine.create_budget(command.clone()).await.unwrap();
    assert_eq!(
        (second.budget_id, second.created),
        (first.budget_id, BudgetCreated::Exists)
    );
    let other = CreateBudget {
        scope: "another".to_owned(),
        ..command
    };
    assert_eq!(code(world.engine.create_budget(other).await), Code::AlreadyExists);
    let minted = world.engine.create_budget(budget("default")).await.unwrap();
    assert_eq!(minted.budget_id.uuid().get_version_num(), 7);
}

#[tokio::test]
async fn charges_are_told_apart_by_key_or_request() {
    let world = World::new();
    let id = world.engine.create_budget(budget("default")).await.unwrap().budget_id;
    let by_key = ChargeBudget {
        dedup_key: Some(IdempotencyKey::parse("same").unwrap()),
        ..charge(20)
    };
    let by_request = ChargeBudget {
        request_id: Some(RequestId::parse("same").unwrap()),
        ..charge(20)
    };
    for command in [by_key, by_request] {
        let first = world.engine.charge_budget(On::new(id, command.clone())).await.unwrap();
        assert_eq!(first, Reported::Ok);
        let again = world.engine.charge_budget(On::new(id, command)).await.unwrap();
        assert_eq!(again, Reported::AlreadyApplied);
    }
    let soft = world.engine.charge_budget(On::new(id, charge(20))).await.unwrap();
    assert!(matches!(soft, Reported::SoftBreach { .. }));
    let hard = world.engine.charge_budget(On::new(id, charge(50))).await.unwrap();
    assert!(matches!(hard, Reported::HardBreach { .. }));
    let reset = On::new(id, ResetBudget::default());
    assert_eq!(world.engine.reset_budget(reset).await.unwrap(), BudgetReset::Now);
    assert_eq!(
        world.engine.get_budget(id).await.unwrap().dimensions[&tokens()].usage,
        0
    );
}

#[tokio::test]
async fn a_deleted_budget_is_hidden_and_takes_nothing() {
    let world = World::new();
    let id = world.engine.create_budget(budget("default")).await.unwrap().budget_id;
    assert_eq!(world.engine.delete_budget(id).await.unwrap(), Deleted::Now);
    assert_eq!(world.engine.delete_budget(id).await.unwrap(), Deleted::Already);
    assert_eq!(
        world.bound_to("default").delete_budget(id).await.unwrap(),
        Deleted::Already
    );
    assert_eq!(code(world.engine.get_budget(id).await), Code::BudgetNotFound);
    let charged = world.engine.charge_budget(On::new(id, charge(1))).await;
    assert_eq!(code(charged), Code::BudgetNotFound);
    let updated = world.engine.update_limits(On::new(id, limits(1, 2))).await;
    assert_eq!(code(updated), Code::BudgetNotFound);
    assert!(
        world
            .engine
            .list_budgets(page("default", 10))
            .await
            .unwrap()
            .items
            .is_empty()
    );
}

#[tokio::test]
async fn a_budget_of_another_namespace_is_answered_as_an_unknown_one() {
    let world = World::new();
    let id = world.engine.create_budget(budget("default")).await.unwrap().budget_id;
    let unknown = BudgetId::from_uuid(Uuid::from_u128(1));
    let stranger = world.bound_to("elsewhere");
    for id in [id, unknown] {
        assert_eq!(code(stranger.get_budget(id).await), Code::BudgetNotFound);
        assert_eq!(code(stranger.delete_budget(id).await), Code::BudgetNotFound);
        let reset = On::new(id, ResetBudget::default());
        assert_eq!(code(stranger.reset_budget(reset).await), Code::BudgetNotFound);
        assert_eq!(
            code(stranger.update_limits(On::new(id, limits(1, 2))).await),
            Code::BudgetNotFound
        );
        assert_eq!(
            code(stranger.charge_budget(On::new(id, charge(1))).await),
            Code::BudgetNotFound
        );
    }
    assert_eq!(code(stranger.create_budget(budget("default")).await), Code::Forbidden);
    assert_eq!(code(stranger.list_budgets(page("default", 10)).await), Code::Forbidden);
    let own = world.bound_to("default");
    assert_eq!(
        own.update_limits(On::new(id, limits(1, 2))).await.unwrap(),
        Updated::Now
    );
}

#[tokio::test]
async fn budgets_are_listed_page_by_page_with_cursors_of_their_own() {
    let world = World::new();
    for _ in 0..5 {
        world.engine.create_budget(budget("default")).await.unwrap();
    }
    world.engine.create_budget(budget("elsewhere")).await.unwrap();
    let mut seen = Vec::new();
    let mut request = page("default", 2);
    loop {
        let found = world.engine.list_budgets(request.clone()).await.unwrap();
        seen.extend(found.items.iter().map(|view| view.budget_id));
        let Some(next) = found.next else { break };
        request.page.cursor = Some(next);
    }
    assert_eq!(seen.len(), 5);
    assert!(seen.is_sorted());
    // The cursor is good for nothing else.
    request.namespace = namespace("elsewhere");
    assert_eq!(
        code(world.engine.list_budgets(request.clone()).await),
        Code::InvalidCursor
    );
    request.namespace = namespace("default");
    assert_eq!(
        code(world.engine.list_quota_policies(request).await),
        Code::InvalidCursor
    );
    assert_eq!(
        code(world.engine.list_budgets(page("default", 0)).await),
        Code::InvalidInput
    );
}

#[tokio::test]
async fn quota_policies_live_the_same_way() {
    let world = World::new();
    let created = world.engine.create_quota_policy(quota("default")).await.unwrap();
    assert_eq!(created.created, QuotaCreated::Created);
    let id = created.quota_policy_id;
    let wider = UpdateQuotaPolicy {
        max_concurrent: LimitChange::Set(3),
        ..UpdateQuotaPolicy::default()
    };
    assert_eq!(
        world.engine.update_quota_policy(On::new(id, wider)).await.unwrap(),
        Updated::Now
    );
    assert_eq!(
        world.engine.update_quota_policy(On::new(id, wider)).await.unwrap(),
        Updated::Unchanged
    );
    assert_eq!(world.engine.get_quota_policy(id).await.unwrap().max_concurrent, Some(3));
    assert_eq!(
        world
            .engine
            .list_quota_policies(page("default", 10))
            .await
            .unwrap()
            .items
            .len(),
        1
    );

    let stranger = world.bound_to("elsewhere");
    for id in [id, QuotaPolicyId::from_uuid(Uuid::from_u128(1))] {
        assert_eq!(code(stranger.get_quota_policy(id).await), Code::QuotaPolicyNotFound);
        assert_eq!(code(stranger.delete_quota_policy(id).await), Code::QuotaPolicyNotFound);
        let update = stranger.update_quota_policy(On::new(id, wider)).await;
        assert_eq!(code(update), Code::QuotaPolicyNotFound);
    }
    assert_eq!(
        code(stranger.create_quota_policy(quota("default")).await),
        Code::Forbidden
    );

    assert_eq!(world.engine.delete_quota_policy(id).await.unwrap(), Deleted::Now);
    assert_eq!(world.engine.delete_quota_policy(id).await.unwrap(), Deleted::Already);
    assert_eq!(code(world.engine.get_quota_policy(id).await), Code::QuotaPolicyNotFound);
}
