//! explain.

use std::collections::BTreeMap;

use ff_backend::limits::{self, Direct};
use ff_core::capability::CapabilitySet;
use ff_core::command::budget::CreateBudget;
use ff_core::command::flow::Assembly;
use ff_core::command::submit::{CreateExecution, LaneState};
use ff_core::fabric::Fabric;
use ff_core::id::{BudgetId, ExecutionId};
use ff_core::name::Namespace;
use ff_core::policy::Policy;
use ff_core::record::{Limits, OnHardLimit, ReasonCode};
use ff_core::time::Duration;
use ff_core::view::Hindrance;

use crate::reads::stage::{How, Stage, submission};

impl Stage {
    async fn blocking(&self, id: ExecutionId) -> Vec<Hindrance> {
        let conditions = self.engine.explain(id).await.unwrap().conditions;
        conditions
            .into_iter()
            .filter(|found| found.blocks)
            .map(|found| found.hindrance)
            .collect()
    }

    async fn detail(&self, id: ExecutionId, of: Hindrance) -> String {
        let conditions = self.engine.explain(id).await.unwrap().conditions;
        conditions
            .into_iter()
            .find(|found| found.hindrance == of)
            .unwrap()
            .detail
    }

    async fn create_budget(&self, hard: u64) -> BudgetId {
        let budget_id = BudgetId::from_uuid(self.mint());
        let limits = Limits {
            soft: None,
            hard: Some(hard),
        };
        let command = CreateBudget {
            budget_id: Some(budget_id),
            namespace: Namespace::default_namespace(),
            scope: "tests".to_owned(),
            dimensions: BTreeMap::from([("tokens".parse().unwrap(), limits)]),
            reset_interval: None,
            on_hard_limit: OnHardLimit::Block,
        };
        let direct = Direct::new(self.backend.clone());
        limits::budgets::create(&direct, budget_id, &command).await.unwrap();
        budget_id
    }
}

#[tokio::test]
async fn nothing_is_in_the_way_of_an_execution_a_worker_could_take() {
    let stage = Stage::new();
    let id = stage.submit(&submission()).await;
    stage.register("worker-1", &[]).await;
    assert_eq!(stage.blocking(id).await, []);
    let nearest = stage.engine.explain(id).await.unwrap().nearest_workers;
    assert_eq!(nearest.len(), 1);
    assert!(nearest[0].missing.is_empty());
}

#[tokio::test]
async fn every_reason_that_holds_at_once_is_named() {
    let stage = Stage::new();
    let (open, closed) = (stage.create_budget(5).await, stage.create_budget(0).await);
    let quota = stage.create_quota(Some(0)).await;
    let command = CreateExecution {
        delay_until: Some(stage.now() + Duration::from_secs(60)),
        policy: Policy {
            budget_ids: [open, closed].into(),
            quota_policy_id: Some(quota),
            ..Policy::default()
        },
        ..submission()
    };
    let id = stage.submit(&command).await;
    stage.hold(id, "looks odd").await;
    stage.set_lane(LaneState::Disabled).await;
    let expected = [
        Hindrance::Hold,
        Hindrance::Delay,
        Hindrance::Lane,
        Hindrance::Budget,
        Hindrance::Quota,
        Hindrance::Capabilities,
    ];
    assert_eq!(stage.blocking(id).await, expected);
    let explained = stage.engine.explain(id).await.unwrap();
    let budgets: Vec<_> = explained
        .conditions
        .iter()
        .filter(|found| found.hindrance == Hindrance::Budget)
        .map(|found| found.detail.as_str())
        .collect();
    assert_eq!(budgets.len(), 2);
    assert!(
        budgets.iter().any(|detail| detail.ends_with("tokens 0/5")),
        "{budgets:?}"
    );
    let detail = stage.detail(id, Hindrance::Quota).await;
    assert!(detail.ends_with("leases 0/0; requests 0/10 in 60000 ms"), "{detail}");
    let order: Vec<_> = explained.conditions.iter().map(|found| found.hindrance).collect();
    assert!(order.is_sorted(), "{order:?}");
}

#[tokio::test]
async fn a_member_shows_its_dependencies_and_its_gate() {
    let stage = Stage::new();
    stage.register("worker-1", &[]).await;
    let flow = stage.create_flow(Assembly::Open).await;
    let upstreams = [
        stage.submit_member(flow, &[]).await,
        stage.submit_member(flow, &[]).await,
    ];
    let id = stage.submit_member(flow, &upstreams).await;
    assert_eq!(stage.blocking(id).await, [Hindrance::Dependencies]);
    let detail = stage.detail(id, Hindrance::Dependencies).await;
    assert_eq!(detail, "0 of 2 it needs are satisfied (2 in all, 2 open, 0 failed)");
    stage.cancel_flow(flow).await;
    assert_eq!(stage.blocking(id).await, [Hindrance::Dependencies, Hindrance::FlowGate]);
}

#[tokio::test]
async fn the_nearest_workers_lack_the_fewest_capabilities() {
    let stage = Stage::new();
    let mut command = submission();
    command.policy.routing_requirements.required_capabilities = CapabilitySet::parse(["a", "b", "c"]).unwrap();
    let id = stage.submit(&command).await;
    let offers: [&[&str]; 7] = [&[], &["a", "b"], &["c"], &["b", "c"], &["x"], &["a"], &["b"]];
    for (number, offered) in offers.into_iter().enumerate() {
        stage.register(&format!("worker-{number}"), offered).await;
    }
    let nearest = stage.engine.explain(id).await.unwrap().nearest_workers;
    let names: Vec<_> = nearest.iter().map(|worker| worker.instance.as_str()).collect();
    assert_eq!(names, ["worker-1", "worker-3", "worker-2", "worker-5", "worker-6"]);
    assert_eq!(nearest[0].missing, ["c"]);
}

#[tokio::test]
async fn who_has_it_or_waits_for_signals_is_in_the_way_and_nothing_else() {
    let stage = Stage::new();
    stage.submit(&submission()).await;
    let (id, fence) = stage.claim().await;
    assert_eq!(stage.blocking(id).await, [Hindrance::Ownership]);
    assert!(
        stage
            .detail(id, Hindrance::Ownership)
            .await
            .starts_with("leased to worker-1 until")
    );

    stage.register("worker-1", &[]).await;
    stage
        .suspend(id, fence, How::waiting_for(ReasonCode::WaitingForSignal))
        .await;
    assert_eq!(stage.blocking(id).await, [Hindrance::Suspension]);
    stage.cancel(id).await;
    let explained = stage.engine.explain(id).await.unwrap();
    assert!(explained.conditions.is_empty() && explained.nearest_workers.is_empty());
}
