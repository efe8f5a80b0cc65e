//! Quota policies. The store counts; here is who may see which, and who is told of a change.

use ff_backend::due::DueKey;
use ff_backend::limits;
use ff_core::command::budget::{Deleted, Updated};
use ff_core::command::page::{ListOf, Page};
use ff_core::command::quota::{CreateQuotaPolicy, CreatedQuotaPolicy, QuotaPolicyView, QuotaState, UpdateQuotaPolicy};
use ff_core::fabric::{On, Result};
use ff_core::id::QuotaPolicyId;
use ff_core::ledger::AccountKey;
use ff_core::machine::quota;
use ff_core::name::Namespace;
use ff_core::record::Cause;
use ff_core::time::Duration;

use crate::engine::Engine;
use crate::fault::refused;

pub(crate) async fn create_quota_policy(engine: &Engine, command: CreateQuotaPolicy) -> Result<CreatedQuotaPolicy> {
    engine.check_namespace(&command.namespace)?;
    let quota_policy_id = match command.quota_policy_id {
        Some(id) => id,
        None => QuotaPolicyId::from_uuid(engine.mint(engine.store_time().await?)),
    };
    let created = limits::quotas::create(engine.store(), quota_policy_id, &command).await;
    let created = created.map_err(refused)?;
    Ok(CreatedQuotaPolicy {
        quota_policy_id,
        created,
    })
}

pub(crate) async fn update_quota_policy(
    engine: &Engine,
    command: On<QuotaPolicyId, UpdateQuotaPolicy>,
) -> Result<Updated> {
    check_seen(engine, command.id).await?;
    let updated = limits::quotas::update(engine.store(), command.id, &command.command).await;
    let updated = updated.map_err(refused)?;
    moved(engine, command.id);
    Ok(updated)
}

pub(crate) async fn get_quota_policy(engine: &Engine, id: QuotaPolicyId) -> Result<QuotaPolicyView> {
    let view = read(engine, id).await?;
    if view.state == QuotaState::Deleted {
        return Err(quota::not_found(id));
    }
    let mut views = lately(engine, vec![view]).await?;
    views.pop().ok_or_else(|| quota::not_found(id))
}

/// The same with how many wait for them, and what they refused lately.
async fn lately(engine: &Engine, views: Vec<QuotaPolicyView>) -> Result<Vec<QuotaPolicyView>> {
    let waiting = engine.lengths_blocked().await?;
    let (now, elapsed) = (engine.store_time().await?, engine.host().elapsed());
    let lately = |view: QuotaPolicyView| {
        let id = view.quota_policy_id;
        let lately = engine.shared.refusals.lately(id, elapsed);
        let ago = |since| Duration::from_millis(u64::try_from(elapsed.saturating_sub(since).as_millis()).unwrap_or(0));
        QuotaPolicyView {
            waiting: waiting.get(&Cause::Quota(id)).copied().unwrap_or_default(),
            refused_last_minute: lately.refused,
            closed_since: lately.closed_since.map(|since| now - ago(since)),
            ..view
        }
    };
    Ok(views.into_iter().map(lately).collect())
}

pub(crate) async fn list_quota_policies(engine: &Engine, request: ListOf) -> Result<Page<QuotaPolicyView>> {
    engine.check_namespace(&request.namespace)?;
    let scope = list_scope(&request.namespace);
    let after = engine.open_cursor(&request.page, &scope).await?;
    let page = limits::quotas::list(engine.store(), request.namespace, after, request.page.limit()?).await;
    let (items, next) = page.map_err(refused)?;
    let items = lately(engine, items).await?;
    let next = engine.sign_cursor(next, &scope).await?;
    Ok(Page { items, next })
}

pub(crate) async fn delete_quota_policy(engine: &Engine, id: QuotaPolicyId) -> Result<Deleted> {
    check_seen(engine, id).await?;
    let deleted = limits::quotas::delete(engine.store(), id).await.map_err(refused)?;
    engine.shared.directory.limits.forget_all();
    moved(engine, id);
    Ok(deleted)
}

/// A quota policy, whoever may see it, deleted or not. `None`: there never was one, or the store has lost it.
pub(crate) async fn find(engine: &Engine, id: QuotaPolicyId) -> Result<Option<QuotaPolicyView>> {
    limits::quotas::find(engine.store(), id).await.map_err(refused)
}

/// A quota policy the caller may see, deleted or not.
async fn read(engine: &Engine, id: QuotaPolicyId) -> Result<QuotaPolicyView> {
    let found = find(engine, id).await?;
    let seen = found.filter(|view| engine.caller.sees(&view.namespace));
    seen.ok_or_else(|| quota::not_found(id))
}

/// Refuses a policy the caller may not see as one that is not there. A policy never changes its namespace, so what is read
/// here still holds when it is changed.
async fn check_seen(engine: &Engine, id: QuotaPolicyId) -> Result<()> {
    match engine.caller.namespace {
        None => Ok(()),
        Some(_) => read(engine, id).await.map(|_| ()),
    }
}

/// Blocked work may have become admissible. Said after every answer: whoever made the change may not have come to say it.
fn moved(engine: &Engine, id: QuotaPolicyId) {
    // At once, not when the hint arrives: the caller's next claim must not believe that it is still closed.
    engine.shared.causes.moved(Cause::Quota(id));
    let partition = engine.shared.config.counts.of_quota(id);
    engine
        .shared
        .due_soon
        .add(partition, DueKey::Account(AccountKey::Quota(id)));
}

fn list_scope(namespace: &Namespace) -> String {
    format!("quota policies {namespace}")
}
