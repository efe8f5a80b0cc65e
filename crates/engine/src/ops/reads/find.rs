//! find: whatever an id, a piece of one or the beginning of a name may mean.

use ff_backend::limits;
use ff_backend::load::Load;
use ff_backend::query::Range;
use ff_core::command::budget::BudgetState;
use ff_core::command::quota::QuotaState;
use ff_core::fabric::Result;
use ff_core::id::{BudgetId, ExecutionId, FlowId, QuotaPolicyId};
use ff_core::limits::{FOUND_MAX, PAGE_DEFAULT};
use ff_core::machine::flow;
use ff_core::machine::index::Index;
use ff_core::name::Namespace;
use ff_core::record::{Execution, Record, RecordKey};
use ff_core::state::public_state;
use ff_core::time::Timestamp;
use ff_core::view::{Find, Found, FoundType, Hit, Piece};
use futures::future::try_join_all;
use uuid::Uuid;

use crate::directory::{lanes, workers};
use crate::engine::Engine;
use crate::fault::refused;
use crate::lists::created_between;
use crate::ops::{budgets, quotas};

pub(crate) async fn find(engine: &Engine, request: Find) -> Result<Found> {
    request.check()?;
    engine.check_namespace(&request.namespace)?;
    let mut found = Found::default();
    match request.piece() {
        Some(Piece::Execution(id)) => of_execution(engine, &request.namespace, id, &mut found).await?,
        Some(Piece::Uuid(uuid)) => of_uuid(engine, &request, uuid, &mut found).await?,
        Some(piece @ (Piece::Made { .. } | Piece::Tail)) => {
            of_piece(engine, &request, piece, &mut found).await?;
            of_name(engine, &request, &mut found).await?;
        }
        None => of_name(engine, &request, &mut found).await?,
    }
    if found.items.len() > FOUND_MAX {
        found.items.truncate(FOUND_MAX);
        found.at_least = true;
    }
    Ok(found)
}

async fn of_execution(engine: &Engine, namespace: &Namespace, id: ExecutionId, found: &mut Found) -> Result<()> {
    // An id of a partition that is not there is nobody's.
    if engine.check_id(id).is_err() {
        return Ok(());
    }
    let key = RecordKey::Execution(id);
    let snapshot = engine
        .store()
        .load(Load::records(id.partition(), [key.clone()]))
        .await?;
    let execution = snapshot.execution(&key).filter(|execution| engine.sees(execution));
    let here = execution.filter(|execution| execution.definition.namespace == *namespace);
    found.items.extend(here.map(execution_hit));
    Ok(())
}

/// Of an execution the uuid alone says where it lives only if nothing else did; the others are looked for at the time it says.
async fn of_uuid(engine: &Engine, request: &Find, uuid: Uuid, found: &mut Found) -> Result<()> {
    let namespace = &request.namespace;
    let home = engine.shared.config.counts.of_execution_uuid(uuid);
    of_execution(engine, namespace, ExecutionId::new(home.index, uuid), found).await?;
    found
        .items
        .extend(of_flow(engine, namespace, FlowId::from_uuid(uuid)).await?);
    let budget = budgets::find(engine, BudgetId::from_uuid(uuid)).await?;
    let budget = budget.filter(|budget| budget.namespace == *namespace && budget.state != BudgetState::Deleted);
    found
        .items
        .extend(budget.map(|budget| hit(FoundType::Budget, &budget.budget_id, &budget.scope)));
    let policy = quotas::find(engine, QuotaPolicyId::from_uuid(uuid)).await?;
    let policy = policy.filter(|policy| policy.namespace == *namespace && policy.state != QuotaState::Deleted);
    found
        .items
        .extend(policy.map(|policy| hit(FoundType::Quota, &policy.quota_policy_id, &policy.quota_policy_id)));
    match request.made_at() {
        Some(made) if found.items.is_empty() => of_piece(engine, request, made, found).await,
        _ => Ok(()),
    }
}

/// Executions and flows whose id has the piece where it belongs: at the time it says, or among the newest. An id may come from a program
/// whose clock is another one.
async fn of_piece(engine: &Engine, request: &Find, piece: Piece, found: &mut Found) -> Result<()> {
    if let Piece::Made { from, before } = piece {
        of_piece_within(engine, request, (Some(from), Some(before)), found).await?;
        if !found.items.is_empty() {
            return Ok(());
        }
    }
    of_piece_within(engine, request, (None, None), found).await
}

/// The same among what was created between two moments.
async fn of_piece_within(
    engine: &Engine,
    request: &Find,
    (from, before): (Option<Timestamp>, Option<Timestamp>),
    found: &mut Found,
) -> Result<()> {
    let namespace = &request.namespace;
    let within = |index: Index| -> Range { created_between(engine.range(index), from, before) };
    let is_execution = |record: &Record| matches!(record, Record::Execution(execution) if request.is_piece_of(execution.id.uuid()) && engine.sees(execution));
    let executions = within(Index::Age(Some(namespace.clone())));
    let executions = engine.matching(executions, None, FOUND_MAX, is_execution).await?;
    found.at_least |= executions.next.is_some();
    found
        .items
        .extend(executions.rows.iter().filter_map(|(record, _)| match record {
            Record::Execution(execution) => Some(execution_hit(execution)),
            _ => None,
        }));
    let is_flow = |record: &Record| matches!(record, Record::Flow(flow) if request.is_piece_of(flow.id.uuid()) && flow.namespace == *namespace);
    let flows = engine.matching(within(Index::Flows), None, FOUND_MAX, is_flow).await?;
    found.at_least |= flows.next.is_some();
    let flows = flows.rows.iter().filter_map(|(record, _)| match record {
        Record::Flow(flow) => Some(of_flow(engine, namespace, flow.id)),
        _ => None,
    });
    found
        .items
        .extend(try_join_all(flows.collect::<Vec<_>>()).await?.into_iter().flatten());
    Ok(())
}

async fn of_flow(engine: &Engine, namespace: &Namespace, id: FlowId) -> Result<Option<Hit>> {
    let snapshot = engine.store().load(engine.load_of_flow(id)).await?;
    let read = engine.visible_flow(&snapshot, id).ok();
    let here = read.filter(|read| read.flow.namespace == *namespace);
    Ok(here.map(|read| Hit {
        found: FoundType::Flow,
        id: id.to_string(),
        label: read.flow.kind.to_string(),
        state: Some(flow::state(read.gate, &read.counts).as_str().to_owned()),
    }))
}

async fn of_name(engine: &Engine, request: &Find, found: &mut Found) -> Result<()> {
    let (namespace, name) = (&request.namespace, request.name());
    // One more of each tells that there are more.
    let limit = FOUND_MAX + 1;
    let lanes = lanes::beginning_with(engine, namespace, name, limit).await?;
    found
        .items
        .extend(lanes.into_iter().map(|lane| named(FoundType::Lane, &lane)));
    let kinds = engine.shared.names_seen.kinds(namespace, name, limit);
    found
        .items
        .extend(kinds.into_iter().map(|kind| named(FoundType::Kind, &kind)));
    let workers = workers::all(engine, namespace).await?;
    let now = engine.store_time().await?;
    let workers = workers.iter().filter(|worker| {
        let names = [worker.instance.as_str(), worker.worker.as_str()];
        worker.is_live(now) && names.iter().any(|known| known.starts_with(name))
    });
    found
        .items
        .extend(workers.map(|worker| hit(FoundType::Worker, &worker.instance, &worker.worker)));
    if found.items.len() <= FOUND_MAX {
        of_account(engine, namespace, name, found).await?;
    }
    Ok(())
}

/// Budgets and quota policies among the first of their namespace: a look at each takes a call.
async fn of_account(engine: &Engine, namespace: &Namespace, name: &str, found: &mut Found) -> Result<()> {
    let listed = limits::budgets::list(engine.store(), namespace.clone(), None, PAGE_DEFAULT).await;
    let (budgets, more_budgets) = listed.map_err(refused)?;
    let budgets = budgets
        .into_iter()
        .filter(|budget| budget.scope.starts_with(name) || budget.budget_id.to_string().starts_with(name));
    found
        .items
        .extend(budgets.map(|budget| hit(FoundType::Budget, &budget.budget_id, &budget.scope)));
    let listed = limits::quotas::list(engine.store(), namespace.clone(), None, PAGE_DEFAULT).await;
    let (policies, more_policies) = listed.map_err(refused)?;
    let ids = policies.into_iter().map(|policy| policy.quota_policy_id);
    let ids = ids.filter(|id| id.to_string().starts_with(name));
    found.items.extend(ids.map(|id| hit(FoundType::Quota, &id, &id)));
    found.at_least |= more_budgets.is_some() || more_policies.is_some();
    Ok(())
}

fn execution_hit(execution: &Execution) -> Hit {
    Hit {
        found: FoundType::Execution,
        id: execution.id.to_string(),
        label: execution.definition.kind.to_string(),
        state: Some(public_state(execution).as_str().to_owned()),
    }
}

fn named(found: FoundType, name: &str) -> Hit {
    hit(found, &name, &name)
}

fn hit(found: FoundType, id: &impl ToString, label: &impl ToString) -> Hit {
    Hit {
        found,
        id: id.to_string(),
        label: label.to_string(),
        state: None,
    }
}
