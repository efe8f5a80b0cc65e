//! Budgets and quota policies: few, so that much work shares them.

use std::collections::BTreeMap;

use ff_core::command::budget::{ChargeBudget, CreateBudget, ResetBudget, UpdateLimits};
use ff_core::command::page::{ListOf, PageRequest};
use ff_core::command::quota::{CreateQuotaPolicy, LimitChange, UpdateQuotaPolicy};
use ff_core::fabric::On;
use ff_core::id::{BudgetId, QuotaPolicyId};
use ff_core::record::{Limits, OnHardLimit};
use ff_core::time::Duration;

use crate::invariants::SentReport;
use crate::world::actor::{Actor, call, call_once};
use crate::world::{names, policies};

/// Budgets, and quota policies, of one world.
const LIMITS_MAX: usize = 4;

impl Actor {
    pub(super) async fn create_limit(&self) {
        let full = {
            let known = self.board.known();
            known.budgets.len().min(known.quotas.len()) >= LIMITS_MAX
        };
        match (full, self.luck.flip()) {
            (true, _) => self.read_limits().await,
            (false, true) => self.create_budget().await,
            (false, false) => self.create_quota().await,
        }
    }

    pub(super) async fn create_budget(&self) {
        let command = CreateBudget {
            budget_id: (!self.luck.one_in(4)).then(|| BudgetId::from_uuid(self.luck.uuid())),
            namespace: names::some_namespace(&self.luck),
            scope: "a team".to_owned(),
            dimensions: self.dimensions(),
            reset_interval: self.luck.one_in(3).then(|| policies::seconds(&self.luck, 5, 60)),
            on_hard_limit: self.luck.choose([OnHardLimit::Block, OnHardLimit::CancelActive]),
        };
        let namespace = command.namespace.clone();
        let heard = if command.budget_id.is_some() {
            call_once!(self, create_budget, command).await
        } else {
            call!(self, create_budget, command).await
        };
        if let Some(created) = heard.told() {
            self.board.known().budgets.push((namespace, created.budget_id));
        }
    }

    fn dimensions(&self) -> BTreeMap<ff_core::name::Dimension, Limits> {
        let limits = Limits {
            soft: self.luck.flip().then(|| self.luck.between(5, 20)),
            hard: self.luck.flip().then(|| self.luck.between(10, 40)),
        };
        [(names::dimension("tokens"), limits)].into()
    }

    pub(super) async fn create_quota(&self) {
        let command = CreateQuotaPolicy {
            quota_policy_id: (!self.luck.one_in(4)).then(|| QuotaPolicyId::from_uuid(self.luck.uuid())),
            namespace: names::some_namespace(&self.luck),
            window: policies::seconds(&self.luck, 1, 20),
            max_requests_per_window: self.luck.flip().then(|| self.luck.between(1, 5)),
            max_concurrent: self.luck.flip().then(|| self.luck.between(1, 3)),
            jitter: Duration::from_millis(self.luck.below(500)),
        };
        let namespace = command.namespace.clone();
        let heard = if command.quota_policy_id.is_some() {
            call_once!(self, create_quota_policy, command).await
        } else {
            call!(self, create_quota_policy, command).await
        };
        if let Some(created) = heard.told() {
            self.board.known().quotas.push((namespace, created.quota_policy_id));
        }
    }

    pub(super) async fn change_limit(&self) {
        let (budget, quota) = self.some_limits();
        match (self.luck.below(3), budget, quota) {
            (0, Some(id), _) => {
                let dimensions = self.dimensions();
                call!(self, update_limits, On::new(id, UpdateLimits { dimensions })).await;
            }
            (1, Some(id), _) => {
                let request_id = Some(names::fresh_request(&self.luck));
                call_once!(self, reset_budget, On::new(id, ResetBudget { request_id })).await;
            }
            (_, _, Some(id)) => {
                call!(self, update_quota_policy, On::new(id, self.quota_change())).await;
            }
            _ => {}
        }
    }

    fn quota_change(&self) -> UpdateQuotaPolicy {
        let change = |most: u64| match self.luck.below(3) {
            0 => LimitChange::Keep,
            1 => LimitChange::Remove,
            _ => LimitChange::Set(self.luck.below(most)),
        };
        UpdateQuotaPolicy {
            window: self.luck.one_in(3).then(|| policies::seconds(&self.luck, 1, 20)),
            max_requests_per_window: change(6),
            max_concurrent: change(4),
            jitter: None,
        }
    }

    pub(super) async fn charge(&self) {
        let (Some(id), _) = self.some_limits() else { return };
        let command = ChargeBudget {
            deltas: names::usage(&self.luck, 30),
            dedup_key: self.luck.flip().then(|| names::fresh_key(&self.luck)),
            request_id: Some(names::fresh_request(&self.luck)),
        };
        let sent = SentReport {
            receipt: names::receipt(&command.deltas),
            budget_id: id,
            by: None,
            keyed: command.dedup_key.is_some(),
        };
        let failovers = self.stage.watch.failovers();
        self.stage.watch.reports(sent);
        if let Some(reported) = call_once!(self, charge_budget, On::new(id, command)).await.told() {
            self.reported(sent, &reported, failovers);
        }
    }

    pub(super) async fn delete_limit(&self) {
        let (budget, quota) = self.some_limits();
        match (self.luck.flip(), budget, quota) {
            (true, Some(id), _) => drop(call!(self, delete_budget, id).await),
            (false, _, Some(id)) => drop(call!(self, delete_quota_policy, id).await),
            _ => {}
        }
    }

    pub(super) async fn read_limits(&self) {
        let (budget, quota) = self.some_limits();
        let request = ListOf {
            namespace: names::some_namespace(&self.luck),
            page: PageRequest {
                cursor: None,
                limit: Some(2),
            },
        };
        match (self.luck.below(4), budget, quota) {
            (0, Some(id), _) => drop(call!(self, get_budget, id).await),
            (1, _, Some(id)) => drop(call!(self, get_quota_policy, id).await),
            (2, ..) => drop(call!(self, list_budgets, request).await),
            _ => drop(call!(self, list_quota_policies, request).await),
        }
    }

    fn some_limits(&self) -> (Option<BudgetId>, Option<QuotaPolicyId>) {
        let known = self.board.known();
        let budget = self.luck.pick(&known.budgets).map(|(_, id)| *id);
        let quota = self.luck.pick(&known.quotas).map(|(_, id)| *id);
        (budget, quota)
    }
}
