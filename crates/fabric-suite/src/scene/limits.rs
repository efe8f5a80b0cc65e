//! Budgets and quota policies.

use std::collections::BTreeMap;

use ff_core::command::budget::{ChargeBudget, CreateBudget, Reported};
use ff_core::command::claim::Task;
use ff_core::command::lease::ReportUsage;
use ff_core::command::quota::CreateQuotaPolicy;
use ff_core::command::submit::CreateExecution;
use ff_core::fabric::{On, Result};
use ff_core::id::{BudgetId, QuotaPolicyId};
use ff_core::name::{Dimension, Namespace};
use ff_core::record::{Limits, OnHardLimit};
use ff_core::time::Duration;
use serde_json::json;

use super::{MINUTE, Scene, with_policy};

impl Scene<'_> {
    /// A budget of ten tokens, with a warning above five.
    pub(crate) async fn budget(&self) -> BudgetId {
        self.fabric.create_budget(budget_of(10)).await.unwrap().budget_id
    }

    /// Spends tokens without a lease.
    pub(crate) async fn spend(&self, budget: BudgetId, amount: u64) -> Result<Reported> {
        let charge = ChargeBudget {
            deltas: deltas(amount),
            dedup_key: None,
            request_id: None,
        };
        self.fabric.charge_budget(On::new(budget, charge)).await
    }

    /// A worker reports tokens it spent.
    pub(crate) async fn report(&self, task: &Task, budget: BudgetId, amount: u64) -> Result<Reported> {
        self.fabric
            .report_usage(On::new(task.execution_id, usage(task, budget, amount)))
            .await
    }

    /// Tokens spent.
    pub(crate) async fn spent(&self, budget: BudgetId) -> u64 {
        let view = self.fabric.get_budget(budget).await.unwrap();
        view.dimensions[&tokens()].usage
    }

    /// A quota policy with this many starts per minute and leases at once.
    pub(crate) async fn quota(&self, rate: Option<u64>, cap: Option<u64>) -> QuotaPolicyId {
        let created = self.fabric.create_quota_policy(quota_of(rate, cap)).await.unwrap();
        created.quota_policy_id
    }
}

/// A report of tokens a task spent.
pub(crate) fn usage(task: &Task, budget_id: BudgetId, amount: u64) -> ReportUsage {
    ReportUsage {
        fence: Some(task.fence),
        budget_id,
        deltas: deltas(amount),
        dedup_key: None,
        request_id: None,
    }
}

/// So many tokens.
pub(crate) fn deltas(amount: u64) -> BTreeMap<Dimension, u64> {
    [(tokens(), amount)].into()
}

pub(crate) fn tokens() -> Dimension {
    Dimension::parse("tokens").unwrap()
}

/// A budget of `hard` tokens, with a warning above half of them.
pub(crate) fn budget_of(hard: u64) -> CreateBudget {
    let limits = Limits {
        soft: Some(hard / 2),
        hard: Some(hard),
    };
    CreateBudget {
        budget_id: None,
        namespace: Namespace::default_namespace(),
        scope: "a test".to_owned(),
        dimensions: [(tokens(), limits)].into(),
        reset_interval: None,
        on_hard_limit: OnHardLimit::Block,
    }
}

/// A submission that spends from a budget.
pub(crate) fn under(budget: BudgetId) -> CreateExecution {
    with_policy(&json!({ "budget_ids": [budget] }))
}

/// A quota policy with this many starts per minute and leases at once.
pub(crate) fn quota_of(rate: Option<u64>, cap: Option<u64>) -> CreateQuotaPolicy {
    CreateQuotaPolicy {
        quota_policy_id: None,
        namespace: Namespace::default_namespace(),
        window: MINUTE,
        max_requests_per_window: rate,
        max_concurrent: cap,
        jitter: Duration::ZERO,
    }
}

/// A submission that counts against a quota policy.
pub(crate) fn limited(quota: QuotaPolicyId) -> CreateExecution {
    with_policy(&json!({ "quota_policy_id": quota }))
}
