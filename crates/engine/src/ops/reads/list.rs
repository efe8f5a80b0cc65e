//! list_executions, and views of executions for other listings.
//!
//! The narrowest lists for the filter are read; what no list tells is filtered here, by the one rule [`ListExecutions::matches`], up
//! to a number of rows that are looked at.

mod narrowest;
mod running;

pub(crate) use self::narrowest::is_taken;

use std::collections::BTreeMap;

use ff_backend::load::Load;
use ff_backend::query::{Cursor, Range};
use ff_core::fabric::Result;
use ff_core::ledger::AccountKey;
use ff_core::partition::Partition;
use ff_core::record::{Execution, Record, RecordKey};
use ff_core::time::Timestamp;
use ff_core::view::{ExecutionPage, ExecutionView, HeldBackBy, ListExecutions};
use futures::future::try_join_all;

use super::environment::{Gates, environment_of_eligible};
use super::view::execution_view;
use crate::engine::Engine;
use crate::ops::{budgets, quotas};

pub(crate) async fn list_executions(engine: &Engine, mut request: ListExecutions) -> Result<ExecutionPage> {
    request.check()?;
    let limit = request.page.limit()?;
    request.namespace = engine.namespace_to_read(request.namespace)?;
    let page = std::mem::take(&mut request.page);
    let scope = format!("executions/{request:?}");
    let after = engine.open_cursor(&page, &scope).await?;
    let found = if is_about_foreign(engine, &request).await? {
        Found::default()
    } else if !request.id.is_empty() {
        of_ids(engine, &request).await?
    } else if running::is_meant_by(&request) {
        running::list(engine, &request, after, limit).await?
    } else {
        let range = narrowest::range(engine, &mut request).await?;
        in_range(engine, &request, range, after, limit).await?
    };
    Ok(ExecutionPage {
        items: execution_views(engine, &found.executions).await?,
        next: engine.sign_cursor(found.next, &scope).await?,
        looked_at: found.looked_at as u64,
        reached_at: found.reached_at,
    })
}

/// Whether only members of a flow, or what one account holds back, is wanted, and that is not in the namespace, or not at all. What is
/// looked at would tell that it is.
async fn is_about_foreign(engine: &Engine, request: &ListExecutions) -> Result<bool> {
    let Some(namespace) = &request.namespace else {
        return Ok(false);
    };
    let owner = match (request.flow_id, &request.cause[..]) {
        (Some(flow_id), _) => {
            let key = RecordKey::Flow(flow_id);
            let load = Load::records(engine.home_of(flow_id), [key.clone()]);
            let snapshot = engine.store().load(load).await?;
            snapshot.flow(&key).map(|flow| flow.namespace.clone())
        }
        (None, [HeldBackBy::Account(AccountKey::Budget(id))]) => {
            budgets::find(engine, *id).await?.map(|budget| budget.namespace)
        }
        (None, [HeldBackBy::Account(AccountKey::Quota(id))]) => {
            quotas::find(engine, *id).await?.map(|policy| policy.namespace)
        }
        _ => return Ok(false),
    };
    Ok(owner.as_ref() != Some(namespace))
}

/// What was found for one page.
#[derive(Default)]
struct Found {
    executions: Vec<Execution>,
    looked_at: usize,
    reached_at: Option<Timestamp>,
    next: Option<Cursor>,
}

/// Those of a range that match.
async fn in_range(
    engine: &Engine,
    request: &ListExecutions,
    range: Range,
    after: Option<Cursor>,
    limit: usize,
) -> Result<Found> {
    let mut reached_at = None;
    let matches = |record: &Record| match record {
        Record::Execution(execution) => {
            reached_at = Some(execution.definition.created_at);
            request.matches(execution) && engine.sees(execution)
        }
        _ => false,
    };
    let found = engine.matching(range, after, limit, matches).await?;
    Ok(Found {
        executions: found
            .rows
            .into_iter()
            .filter_map(|(record, _)| execution(record))
            .collect(),
        looked_at: found.looked_at,
        reached_at,
        next: found.next,
    })
}

fn execution(record: Record) -> Option<Execution> {
    match record {
        Record::Execution(execution) => Some(*execution),
        _ => None,
    }
}

/// Those of the ids that are there and match, with one load for each partition.
async fn of_ids(engine: &Engine, request: &ListExecutions) -> Result<Found> {
    let mut by_partition: BTreeMap<Partition, Vec<RecordKey>> = BTreeMap::new();
    for id in &request.id {
        engine.check_id(*id)?;
        by_partition
            .entry(id.partition())
            .or_default()
            .push(RecordKey::Execution(*id));
    }
    let loads = by_partition
        .into_iter()
        .map(|(partition, keys)| engine.store().load(Load::records(partition, keys)));
    let snapshots = try_join_all(loads.collect::<Vec<_>>()).await?;
    let records = snapshots
        .into_iter()
        .flat_map(|snapshot| snapshot.records.into_values());
    let mut executions: Vec<Execution> = records
        .filter_map(|(record, _)| execution(record))
        .filter(|execution| request.matches(execution) && engine.sees(execution))
        .collect();
    executions.sort_by_key(|execution| std::cmp::Reverse((execution.definition.created_at, execution.id)));
    Ok(Found {
        looked_at: executions.len(),
        reached_at: executions.last().map(|execution| execution.definition.created_at),
        executions,
        next: None,
    })
}

/// What the caller sees of some executions: those it may not see, or whose retention is over, are left out.
pub(crate) async fn execution_views(engine: &Engine, executions: &[Execution]) -> Result<Vec<ExecutionView>> {
    let seen: Vec<&Execution> = executions.iter().filter(|execution| engine.sees(execution)).collect();
    seen.iter()
        .for_each(|execution| engine.shared.names_seen.note(execution));
    let environment = environment_of_eligible(engine, &seen, Gates::new()).await?;
    Ok(seen
        .into_iter()
        .map(|execution| execution_view(execution, &environment))
        .collect())
}
