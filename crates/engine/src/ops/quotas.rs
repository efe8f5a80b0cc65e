//! Quota policies. The store counts; here is who may see which, and who is told of a change.

use ff_backend::due::DueKey;
use ff_backend::query::Cursor;
use ff_backend::quota::{QuotaAnswer, QuotaCall};
use ff_core::command::budget::{Deleted, Updated};
use ff_core::command::page::{ListOf, Page};
use ff_core::command::quota::{CreateQuotaPolicy, CreatedQuotaPolicy, QuotaPolicyView, QuotaState, UpdateQuotaPolicy};
use ff_core::error::{Code, Rejection};
use ff_core::fabric::{On, Result};
use ff_core::id::QuotaPolicyId;
use ff_core::machine::quota;
use ff_core::name::Namespace;
use ff_core::record::Cause;

use crate::engine::Engine;
use crate::fault::internal;

pub(crate) async fn create_quota_policy(engine: &Engine, command: CreateQuotaPolicy) -> Result<CreatedQuotaPolicy> {
    engine.check_namespace(&command.namespace)?;
    let quota_policy_id = match command.quota_policy_id {
        Some(id) => id,
        None => QuotaPolicyId::from_uuid(engine.mint(engine.store_time().await?)),
    };
    let create = QuotaCall::Create {
        quota_policy_id,
        command,
    };
    match ask(engine, create).await? {
        QuotaAnswer::Created(created) => Ok(CreatedQuotaPolicy {
            quota_policy_id,
            created,
        }),
        _ => Err(mixed_up()),
    }
}

pub(crate) async fn update_quota_policy(
    engine: &Engine,
    command: On<QuotaPolicyId, UpdateQuotaPolicy>,
) -> Result<Updated> {
    check_seen(engine, command.id).await?;
    let update = QuotaCall::Update {
        quota_policy_id: command.id,
        command: command.command,
    };
    match ask(engine, update).await? {
        QuotaAnswer::Updated(updated) => {
            moved(engine, command.id);
            Ok(updated)
        }
        _ => Err(mixed_up()),
    }
}

pub(crate) async fn get_quota_policy(engine: &Engine, id: QuotaPolicyId) -> Result<QuotaPolicyView> {
    let view = read(engine, id).await?;
    match view.state {
        QuotaState::Deleted => Err(quota::not_found(id)),
        QuotaState::Active => Ok(view),
    }
}

pub(crate) async fn list_quota_policies(engine: &Engine, request: ListOf) -> Result<Page<QuotaPolicyView>> {
    engine.check_namespace(&request.namespace)?;
    let scope = list_scope(&request.namespace);
    let after = engine.open_cursor(&request.page, &scope).await?;
    let list = QuotaCall::List {
        namespace: request.namespace,
        after: after.map(|cursor| cursor.0.parse()).transpose()?,
        limit: request.page.limit()?,
    };
    match ask(engine, list).await? {
        QuotaAnswer::Page { policies: items, next } => {
            let next = next.map(|id| Cursor(id.to_string()));
            let next = engine.sign_cursor(next, &scope).await?;
            Ok(Page { items, next })
        }
        _ => Err(mixed_up()),
    }
}

pub(crate) async fn delete_quota_policy(engine: &Engine, id: QuotaPolicyId) -> Result<Deleted> {
    check_seen(engine, id).await?;
    match ask(engine, QuotaCall::Delete(id)).await? {
        QuotaAnswer::Deleted(deleted) => {
            engine.shared.directory.limits.forget_all();
            moved(engine, id);
            Ok(deleted)
        }
        _ => Err(mixed_up()),
    }
}

async fn ask(engine: &Engine, call: QuotaCall) -> Result<QuotaAnswer> {
    engine.store().quota(call).await?.1
}

/// A quota policy, whoever may see it, deleted or not. `None`: there never was one, or the store has lost it.
pub(crate) async fn find(engine: &Engine, id: QuotaPolicyId) -> Result<Option<QuotaPolicyView>> {
    match ask(engine, QuotaCall::Get(id)).await {
        Ok(QuotaAnswer::Policy(view)) => Ok(Some(*view)),
        Err(refused) if refused.code == Code::QuotaPolicyNotFound => Ok(None),
        Err(refused) => Err(refused),
        Ok(_) => Err(mixed_up()),
    }
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
    engine.shared.due_soon.add(partition, DueKey::Quota(id));
}

fn list_scope(namespace: &Namespace) -> String {
    format!("quota policies {namespace}")
}

fn mixed_up() -> Rejection {
    internal("a quota call was answered with something else")
}
