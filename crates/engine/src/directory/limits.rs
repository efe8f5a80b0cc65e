//! Which budgets and quota policies there are.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_backend::budget::{BudgetAnswer, BudgetCall};
use ff_backend::quota::{QuotaAnswer, QuotaCall};
use ff_core::command::budget::{BudgetState, BudgetView};
use ff_core::command::quota::QuotaState;
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::id::{BudgetId, QuotaPolicyId};
use ff_core::machine::{budget, quota};
use ff_core::name::Namespace;
use ff_core::policy::Policy;
use ff_core::record::Cause;

use super::BELIEVED_FOR;
use crate::engine::Engine;
use crate::fault::internal;

/// Namespaces of the budgets and quota policies seen lately.
#[derive(Default)]
pub(crate) struct Limits {
    seen: Mutex<HashMap<Cause, (Namespace, Duration)>>,
}

impl Limits {
    /// Forgets one of them.
    pub(crate) fn forget(&self, cause: Cause) {
        self.seen().remove(&cause);
    }

    /// Forgets what was seen.
    pub(crate) fn forget_all(&self) {
        self.seen().clear();
    }

    fn seen(&self) -> MutexGuard<'_, HashMap<Cause, (Namespace, Duration)>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Refuses a policy that names a budget or quota policy the namespace does not have.
    pub(crate) async fn check_limits(&self, namespace: &Namespace, policy: &Policy) -> Result<()> {
        for id in &policy.budget_ids {
            self.check_budget(namespace, *id).await?;
        }
        match policy.quota_policy_id {
            Some(id) => check_quota_policy(self, namespace, id).await,
            None => Ok(()),
        }
    }

    /// Refuses a budget the namespace does not have.
    pub(crate) async fn check_budget(&self, namespace: &Namespace, id: BudgetId) -> Result<()> {
        if knows(self, namespace, Cause::Budget(id)) {
            return Ok(());
        }
        match self.store().budget(BudgetCall::Get(id)).await?.1? {
            BudgetAnswer::Budget(view) if view.namespace == *namespace && view.state != BudgetState::Deleted => {
                learn(self, namespace, Cause::Budget(id));
                Ok(())
            }
            _ => Err(budget::not_found(id)),
        }
    }
}

async fn check_quota_policy(engine: &Engine, namespace: &Namespace, id: QuotaPolicyId) -> Result<()> {
    if knows(engine, namespace, Cause::Quota(id)) {
        return Ok(());
    }
    match engine.store().quota(QuotaCall::Get(id)).await?.1? {
        QuotaAnswer::Policy(view) if view.namespace == *namespace && view.state != QuotaState::Deleted => {
            learn(engine, namespace, Cause::Quota(id));
            Ok(())
        }
        _ => Err(quota::not_found(id)),
    }
}

fn knows(engine: &Engine, namespace: &Namespace, cause: Cause) -> bool {
    let now = engine.host().elapsed();
    let seen = engine.shared.directory.limits.seen();
    seen.get(&cause)
        .is_some_and(|(of, at)| of == namespace && now.saturating_sub(*at) < BELIEVED_FOR)
}

fn learn(engine: &Engine, namespace: &Namespace, cause: Cause) {
    let now = engine.host().elapsed();
    engine
        .shared
        .directory
        .limits
        .seen()
        .insert(cause, (namespace.clone(), now));
}

/// A budget as it is now, also a deleted one; `None` when there is no such budget.
pub(crate) async fn read_budget(engine: &Engine, id: BudgetId) -> Result<Option<BudgetView>> {
    match engine.store().budget(BudgetCall::Get(id)).await?.1 {
        Ok(BudgetAnswer::Budget(view)) => Ok(Some(*view)),
        Ok(_) => Err(internal("a reading of a budget was answered with something else")),
        Err(refusal) if refusal.code == Code::BudgetNotFound => Ok(None),
        Err(refusal) => Err(refusal),
    }
}

/// The generation of a budget or quota, which moves when it may admit more; `None` when there is no such budget or quota.
pub(crate) async fn generation_of(engine: &Engine, cause: Cause) -> Result<Option<u64>> {
    match cause {
        Cause::Budget(id) => Ok(read_budget(engine, id).await?.map(|budget| budget.generation)),
        Cause::Quota(id) => match engine.store().quota(QuotaCall::Get(id)).await?.1 {
            Ok(QuotaAnswer::Policy(policy)) => Ok(Some(policy.generation)),
            Ok(_) => Err(internal("a reading of a quota was answered with something else")),
            Err(refusal) if refusal.code == Code::QuotaPolicyNotFound => Ok(None),
            Err(refusal) => Err(refusal),
        },
    }
}
