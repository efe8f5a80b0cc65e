//! Limits that are asked and never refuse.

use std::collections::BTreeMap;

use ff_core::command::budget::CreateBudget;
use ff_core::command::quota::CreateQuotaPolicy;
use ff_core::fabric::Fabric;
use ff_core::id::{BudgetId, QuotaPolicyId};
use ff_core::name::{Dimension, Namespace};
use ff_core::policy::Policy;
use ff_core::record::{Limits, OnHardLimit};
use ff_core::time::Duration;

/// More than any run takes.
const PLENTY: u64 = 1_000_000_000;

/// What tasks are put under.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(super) enum LimitKind {
    /// A quota policy with a rate and a cap
    Quota,
    /// A budget with a hard limit
    Budget,
}

/// A limit that was created.
#[derive(Clone, Copy)]
pub(super) enum Limit {
    Quota(QuotaPolicyId),
    Budget(BudgetId),
}

impl Limit {
    pub(super) async fn create(fabric: &dyn Fabric, kind: LimitKind) -> anyhow::Result<Self> {
        let namespace = Namespace::default_namespace();
        Ok(match kind {
            LimitKind::Quota => {
                let command = CreateQuotaPolicy {
                    quota_policy_id: None,
                    namespace,
                    window: Duration::from_secs(60),
                    max_requests_per_window: Some(PLENTY),
                    max_concurrent: Some(PLENTY),
                    jitter: Duration::ZERO,
                };
                Limit::Quota(fabric.create_quota_policy(command).await?.quota_policy_id)
            }
            LimitKind::Budget => {
                let limits = Limits {
                    soft: None,
                    hard: Some(PLENTY),
                };
                let command = CreateBudget {
                    budget_id: None,
                    namespace,
                    scope: "bench".to_owned(),
                    dimensions: BTreeMap::from([(Dimension::parse("tokens")?, limits)]),
                    reset_interval: None,
                    on_hard_limit: OnHardLimit::Block,
                };
                Limit::Budget(fabric.create_budget(command).await?.budget_id)
            }
        })
    }

    /// The policy of a task under it.
    pub(super) fn policy(self) -> Policy {
        let mut policy = Policy::default();
        match self {
            Limit::Quota(id) => policy.quota_policy_id = Some(id),
            Limit::Budget(id) => policy.budget_ids.extend([id]),
        }
        policy
    }
}
