//! Quota policies. The store counts; here is who may see which, and who is told of a change.

use ff_backend::due::DueKey;
use ff_backend::query::Cursor;
use ff_backend::quota::{QuotaAnswer, QuotaCall};
use ff_core::command::budget::{Deleted, Updated};
use ff_core::command::page::{ListOf, Page};
use ff_core::command::quota::{CreateQuotaPolicy, CreatedQuotaPolicy, QuotaPolicyView, QuotaState, UpdateQuotaPolicy};
use ff_core::error::Rejection;
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
    match engine.ask_quota(create).await? {
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
    engine.check_quota_policy_seen(command.id).await?;
    let update = QuotaCall::Update {
        quota_policy_id: command.id,
        command: command.command,
    };
    match engine.ask_quota(update).await? {
        QuotaAnswer::Updated(updated) => {
            engine.quota_moved(command.id);
            Ok(updated)
        }
        _ => Err(mixed_up()),
    }
}

pub(crate) async fn get_quota_policy(engine: &Engine, id: QuotaPolicyId) -> Result<QuotaPolicyView> {
    let view = engine.read_quota_policy(id).await?;
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
    match engine.ask_quota(list).await? {
        QuotaAnswer::Page { policies: items, next } => {
            let next = next.map(|id| Cursor(id.to_string()));
            let next = engine.sign_cursor(next, &scope).await?;
            Ok(Page { items, next })
        }
        _ => Err(mixed_up()),
    }
}

pub(crate) async fn delete_quota_policy(engine: &Engine, id: QuotaPolicyId) -> Result<Deleted> {
    engine.check_quota_policy_seen(id).await?;
    match engine.ask_quota(QuotaCall::Delete(id)).await? {
        QuotaAnswer::Deleted(deleted) => {
            engine.shared.directory.limits.forget_all();
            engine.quota_moved(id);
            Ok(deleted)
        }
        _ => Err(mixed_up()),
    }
}

impl Engine {
    async fn ask_quota(&self, call: QuotaCall) -> Result<QuotaAnswer> {
        self.store().quota(call).await?.1
    }

    /// A quota policy the caller may see, deleted or not.
    async fn read_quota_policy(&self, id: QuotaPolicyId) -> Result<QuotaPolicyView> {
        match self.ask_quota(QuotaCall::Get(id)).await? {
            QuotaAnswer::Policy(view) if self.caller.sees(&view.namespace) => Ok(*view),
            QuotaAnswer::Policy(_) => Err(quota::not_found(id)),
            _ => Err(mixed_up()),
        }
    }

    /// Refuses a policy the caller may not see as one that is not there. A policy never changes its namespace, so what is read
    /// here still holds when it is changed.
    async fn check_quota_policy_seen(&self, id: QuotaPolicyId) -> Result<()> {
        match self.caller.namespace {
            None => Ok(()),
            Some(_) => self.read_quota_policy(id).await.map(|_| ()),
        }
    }

    /// Blocked work may have become admissible. Said after every answer: whoever made the change may not have come to say it.
    fn quota_moved(&self, id: QuotaPolicyId) {
        // At once, not when the hint arrives: the caller's next claim must not believe that it is still closed.
        self.shared.causes.moved(Cause::Quota(id));
        let partition = self.shared.config.counts.of_quota(id);
        self.shared.due_soon.add(partition, DueKey::Quota(id));
    }
}

fn list_scope(namespace: &Namespace) -> String {
    format!("quota policies {namespace}")
}

fn mixed_up() -> Rejection {
    internal("a quota call was answered with something else")
}
