//! Budgets. The store counts; here is who may see which, and who is told of a change.

use ff_backend::budget::{BudgetAnswer, BudgetCall};
use ff_backend::due::DueKey;
use ff_backend::query::Cursor;
use ff_core::command::budget::{
    BudgetReset, BudgetState, BudgetView, ChargeBudget, CreateBudget, CreatedBudget, Deleted, Reported, ResetBudget,
    UpdateLimits, Updated, UsageIdentity, UsageReport,
};
use ff_core::command::page::{ListOf, Page};
use ff_core::error::Rejection;
use ff_core::fabric::{On, Result};
use ff_core::id::BudgetId;
use ff_core::machine::budget;
use ff_core::name::Namespace;
use ff_core::record::Cause;

use crate::engine::Engine;
use crate::fault::internal;

pub(crate) async fn create_budget(engine: &Engine, command: CreateBudget) -> Result<CreatedBudget> {
    engine.check_namespace(&command.namespace)?;
    let budget_id = match command.budget_id {
        Some(id) => id,
        None => BudgetId::from_uuid(engine.mint(engine.store_time().await?)),
    };
    match engine.ask_budget(BudgetCall::Create { budget_id, command }).await? {
        BudgetAnswer::Created(created) => Ok(CreatedBudget { budget_id, created }),
        _ => Err(mixed_up()),
    }
}

pub(crate) async fn update_limits(engine: &Engine, command: On<BudgetId, UpdateLimits>) -> Result<Updated> {
    engine.check_budget_seen(command.id).await?;
    let update = BudgetCall::Update {
        budget_id: command.id,
        command: command.command,
    };
    match engine.ask_budget(update).await? {
        BudgetAnswer::Updated(updated) => {
            engine.budget_moved(command.id);
            Ok(updated)
        }
        _ => Err(mixed_up()),
    }
}

pub(crate) async fn get_budget(engine: &Engine, id: BudgetId) -> Result<BudgetView> {
    let view = engine.read_budget(id).await?;
    match view.state {
        BudgetState::Deleted => Err(budget::not_found(id)),
        BudgetState::Open | BudgetState::Closed(_) => Ok(view),
    }
}

pub(crate) async fn list_budgets(engine: &Engine, request: ListOf) -> Result<Page<BudgetView>> {
    engine.check_namespace(&request.namespace)?;
    let scope = list_scope(&request.namespace);
    let after = engine.open_cursor(&request.page, &scope).await?;
    let list = BudgetCall::List {
        namespace: request.namespace,
        after: after.map(|cursor| cursor.0.parse()).transpose()?,
        limit: request.page.limit()?,
    };
    match engine.ask_budget(list).await? {
        BudgetAnswer::Page { budgets: items, next } => {
            let next = next.map(|id| Cursor(id.to_string()));
            let next = engine.sign_cursor(next, &scope).await?;
            Ok(Page { items, next })
        }
        _ => Err(mixed_up()),
    }
}

pub(crate) async fn reset_budget(engine: &Engine, command: On<BudgetId, ResetBudget>) -> Result<BudgetReset> {
    engine.check_budget_seen(command.id).await?;
    let reset = BudgetCall::Reset {
        budget_id: command.id,
        command: command.command,
    };
    match engine.ask_budget(reset).await? {
        BudgetAnswer::Reset(reset) => {
            engine.budget_moved(command.id);
            Ok(reset)
        }
        _ => Err(mixed_up()),
    }
}

pub(crate) async fn delete_budget(engine: &Engine, id: BudgetId) -> Result<Deleted> {
    engine.check_budget_seen(id).await?;
    match engine.ask_budget(BudgetCall::Delete(id)).await? {
        BudgetAnswer::Deleted(deleted) => {
            engine.shared.directory.limits.forget_all();
            engine.budget_moved(id);
            Ok(deleted)
        }
        _ => Err(mixed_up()),
    }
}

pub(crate) async fn charge_budget(engine: &Engine, command: On<BudgetId, ChargeBudget>) -> Result<Reported> {
    engine.check_budget_seen(command.id).await?;
    let charge = BudgetCall::Report {
        budget_id: command.id,
        report: report_of(command.command),
    };
    match engine.ask_budget(charge).await? {
        // Only an outbox needs to know that there is nobody left to tell.
        BudgetAnswer::Reported(Reported::Gone) => Err(budget::not_found(command.id)),
        BudgetAnswer::Reported(reported) => Ok(reported),
        _ => Err(mixed_up()),
    }
}

impl Engine {
    async fn ask_budget(&self, call: BudgetCall) -> Result<BudgetAnswer> {
        self.store().budget(call).await?.1
    }

    /// A budget the caller may see, deleted or not.
    async fn read_budget(&self, id: BudgetId) -> Result<BudgetView> {
        match self.ask_budget(BudgetCall::Get(id)).await? {
            BudgetAnswer::Budget(view) if self.caller.sees(&view.namespace) => Ok(*view),
            BudgetAnswer::Budget(_) => Err(budget::not_found(id)),
            _ => Err(mixed_up()),
        }
    }

    /// Refuses a budget the caller may not see as one that is not there. A budget never changes its namespace, so what is read
    /// here still holds when it is changed.
    async fn check_budget_seen(&self, id: BudgetId) -> Result<()> {
        match self.caller.namespace {
            None => Ok(()),
            Some(_) => self.read_budget(id).await.map(|_| ()),
        }
    }

    /// Blocked work may have become admissible. Said after every answer: whoever made the change may not have come to say it.
    fn budget_moved(&self, id: BudgetId) {
        // At once, not when the hint arrives: the caller's next claim must not believe that it is still closed.
        self.shared.causes.moved(Cause::Budget(id));
        let partition = self.shared.config.counts.of_budget(id);
        self.shared.due_soon.add(partition, DueKey::Budget(id));
    }
}

fn report_of(command: ChargeBudget) -> UsageReport {
    let request = command.request_id.map(UsageIdentity::Request);
    UsageReport {
        identity: command.dedup_key.map(UsageIdentity::Key).or(request),
        ..UsageReport::new(command.deltas)
    }
}

fn list_scope(namespace: &Namespace) -> String {
    format!("budgets {namespace}")
}

fn mixed_up() -> Rejection {
    internal("a budget call was answered with something else")
}
