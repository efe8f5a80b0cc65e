//! Budgets. The store counts; here is who may see which, and who is told of a change.

use std::collections::BTreeMap;

use ff_backend::due::DueKey;
use ff_backend::limits;
use ff_core::command::budget::{
    BudgetReset, BudgetState, BudgetView, ChargeBudget, CreateBudget, CreatedBudget, Deleted, Reported, ResetBudget,
    UpdateLimits, Updated,
};
use ff_core::command::page::{ListOf, Page};
use ff_core::fabric::{On, Result};
use ff_core::id::BudgetId;
use ff_core::ledger::AccountKey;
use ff_core::machine::budget;
use ff_core::machine::budget::UsageReport;
use ff_core::name::{Dimension, Namespace};
use ff_core::record::{Cause, UsageIdentity};
use ff_core::view::HowMany;

use crate::engine::Engine;
use crate::fault::{internal, refused};

pub(crate) async fn create_budget(engine: &Engine, command: CreateBudget) -> Result<CreatedBudget> {
    engine.check_namespace(&command.namespace)?;
    let budget_id = match command.budget_id {
        Some(id) => id,
        None => BudgetId::from_uuid(engine.mint(engine.store_time().await?)),
    };
    let created = limits::budgets::create(engine.store(), budget_id, &command).await;
    let created = created.map_err(refused)?;
    Ok(CreatedBudget { budget_id, created })
}

pub(crate) async fn update_limits(engine: &Engine, command: On<BudgetId, UpdateLimits>) -> Result<Updated> {
    check_seen(engine, command.id).await?;
    let updated = limits::budgets::update(engine.store(), command.id, &command.command).await;
    let updated = updated.map_err(refused)?;
    moved(engine, command.id);
    Ok(updated)
}

pub(crate) async fn get_budget(engine: &Engine, id: BudgetId) -> Result<BudgetView> {
    let view = read(engine, id).await?;
    if view.state == BudgetState::Deleted {
        return Err(budget::not_found(id));
    }
    let waiting = engine.lengths_blocked().await?;
    Ok(with_waiting(view, &waiting))
}

/// The same with how many wait for it.
fn with_waiting(view: BudgetView, waiting: &BTreeMap<Cause, HowMany>) -> BudgetView {
    let waiting = waiting.get(&Cause::Budget(view.budget_id)).copied();
    BudgetView {
        waiting: waiting.unwrap_or_default(),
        ..view
    }
}

pub(crate) async fn list_budgets(engine: &Engine, request: ListOf) -> Result<Page<BudgetView>> {
    engine.check_namespace(&request.namespace)?;
    let scope = list_scope(&request.namespace);
    let after = engine.open_cursor(&request.page, &scope).await?;
    let page = limits::budgets::list(engine.store(), request.namespace, after, request.page.limit()?).await;
    let (items, next) = page.map_err(refused)?;
    let waiting = engine.lengths_blocked().await?;
    let items = items.into_iter().map(|view| with_waiting(view, &waiting)).collect();
    let next = engine.sign_cursor(next, &scope).await?;
    Ok(Page { items, next })
}

pub(crate) async fn reset_budget(engine: &Engine, command: On<BudgetId, ResetBudget>) -> Result<BudgetReset> {
    check_seen(engine, command.id).await?;
    let reset = limits::budgets::reset(engine.store(), command.id, &command.command).await;
    let reset = reset.map_err(refused)?;
    moved(engine, command.id);
    Ok(reset)
}

pub(crate) async fn delete_budget(engine: &Engine, id: BudgetId) -> Result<Deleted> {
    check_seen(engine, id).await?;
    let deleted = limits::budgets::delete(engine.store(), id).await.map_err(refused)?;
    engine.shared.directory.limits.forget_all();
    moved(engine, id);
    Ok(deleted)
}

pub(crate) async fn charge_budget(engine: &Engine, command: On<BudgetId, ChargeBudget>) -> Result<Reported> {
    check_seen(engine, command.id).await?;
    let charge = report_of(command.command);
    let deltas = charge.deltas.clone();
    match report(engine, command.id, charge).await? {
        // Only an outbox needs to know that there is nobody left to tell.
        Reported::Gone => Err(budget::not_found(command.id)),
        Reported::AlreadyApplied => Ok(Reported::AlreadyApplied),
        reported => {
            // It is charged: whatever goes wrong here, only a chart misses it.
            if let Err(refusal) = note_charge(engine, command.id, &deltas).await {
                tracing::debug!(budget_id = %command.id, %refusal, "a charge is not in the series of its budget");
            }
            Ok(reported)
        }
    }
}

/// Counts for charts what was charged without a lease. Whose the budget is is read once.
async fn note_charge(engine: &Engine, id: BudgetId, deltas: &BTreeMap<Dimension, u64>) -> Result<()> {
    let minutes = &engine.shared.minutes;
    // Who is of one namespace saw this budget only because it is of the same.
    let known = engine.caller.namespace.clone().or_else(|| minutes.namespace_of(id));
    let namespace = match known {
        Some(namespace) => Some(namespace),
        None => find(engine, id).await?.map(|view| view.namespace),
    };
    if let Some(namespace) = namespace {
        minutes.charged(&namespace, id, deltas, engine.store_time().await?);
    }
    Ok(())
}

/// Counts one report.
pub(crate) async fn report(engine: &Engine, id: BudgetId, report: UsageReport) -> Result<Reported> {
    let charged = limits::budgets::report(engine.store(), id, &[report], false).await;
    let reported = charged.map_err(refused)?.reported.pop();
    reported.ok_or_else(|| internal("a usage report came to nothing"))
}

/// A budget, whoever may see it, deleted or not. `None`: there never was one, or the store has lost it.
pub(crate) async fn find(engine: &Engine, id: BudgetId) -> Result<Option<BudgetView>> {
    limits::budgets::find(engine.store(), id).await.map_err(refused)
}

/// A budget the caller may see, deleted or not.
async fn read(engine: &Engine, id: BudgetId) -> Result<BudgetView> {
    let found = find(engine, id).await?;
    let seen = found.filter(|view| engine.caller.sees(&view.namespace));
    seen.ok_or_else(|| budget::not_found(id))
}

/// Refuses a budget the caller may not see as one that is not there. A budget never changes its namespace, so what is read
/// here still holds when it is changed.
async fn check_seen(engine: &Engine, id: BudgetId) -> Result<()> {
    match engine.caller.namespace {
        None => Ok(()),
        Some(_) => read(engine, id).await.map(|_| ()),
    }
}

/// Blocked work may have become admissible. Said after every answer: whoever made the change may not have come to say it.
fn moved(engine: &Engine, id: BudgetId) {
    // At once, not when the hint arrives: the caller's next claim must not believe that it is still closed.
    engine.shared.causes.moved(Cause::Budget(id));
    let partition = engine.shared.config.counts.of_budget(id);
    engine
        .shared
        .due_soon
        .add(partition, DueKey::Account(AccountKey::Budget(id)));
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
