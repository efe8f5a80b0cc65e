//! Which budgets and quota policies there are.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_backend::limits;
use ff_core::command::budget::BudgetState;
use ff_core::command::quota::QuotaState;
use ff_core::fabric::Result;
use ff_core::id::{BudgetId, QuotaPolicyId};
use ff_core::machine::{budget, quota};
use ff_core::name::Namespace;
use ff_core::policy::Policy;
use ff_core::record::Cause;

use super::BELIEVED_FOR;
use crate::engine::Engine;
use crate::fault::refused;
use crate::ops::{budgets, quotas};

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

/// Refuses a policy that names a budget or quota policy the namespace does not have.
pub(crate) async fn check(engine: &Engine, namespace: &Namespace, policy: &Policy) -> Result<()> {
    for id in &policy.budget_ids {
        check_budget(engine, namespace, *id).await?;
    }
    match policy.quota_policy_id {
        Some(id) => check_quota_policy(engine, namespace, id).await,
        None => Ok(()),
    }
}

/// Refuses a budget the namespace does not have.
pub(crate) async fn check_budget(engine: &Engine, namespace: &Namespace, id: BudgetId) -> Result<()> {
    if knows(engine, namespace, Cause::Budget(id)) {
        return Ok(());
    }
    let found = budgets::find(engine, id).await?;
    let usable = found.is_some_and(|view| view.namespace == *namespace && view.state != BudgetState::Deleted);
    if !usable {
        return Err(budget::not_found(id));
    }
    learn(engine, namespace, Cause::Budget(id));
    Ok(())
}

async fn check_quota_policy(engine: &Engine, namespace: &Namespace, id: QuotaPolicyId) -> Result<()> {
    if knows(engine, namespace, Cause::Quota(id)) {
        return Ok(());
    }
    let found = quotas::find(engine, id).await?;
    let usable = found.is_some_and(|view| view.namespace == *namespace && view.state != QuotaState::Deleted);
    if !usable {
        return Err(quota::not_found(id));
    }
    learn(engine, namespace, Cause::Quota(id));
    Ok(())
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

/// The generation of a budget or quota, which moves when it may admit more; `None` when there is no such budget or quota.
pub(crate) async fn generation_of(engine: &Engine, cause: Cause) -> Result<Option<u64>> {
    let generation = limits::generation_of(engine.store(), cause).await;
    generation.map_err(refused)
}
