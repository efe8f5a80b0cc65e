//! list_executions, and views of executions for other listings.
//!
//! The narrowest lists for the filter are read; what no list tells is filtered here, by the one rule [`ListExecutions::matches`], up
//! to a number of rows that are looked at.

use std::collections::BTreeMap;

use ff_backend::load::Load;
use ff_backend::query::{Cursor, Range};
use ff_core::fabric::Result;
use ff_core::machine::index::{Index, Order};
use ff_core::machine::placement::QueueKey;
use ff_core::name::Namespace;
use ff_core::partition::Partition;
use ff_core::record::{Execution, Record, RecordKey};
use ff_core::time::Timestamp;
use ff_core::view::{ExecutionPage, ExecutionView, ListExecutions, ListOrder};
use futures::future::try_join_all;

use super::environment::{Gates, environment_of_eligible};
use super::view::execution_view;
use crate::engine::Engine;

pub(crate) async fn list_executions(engine: &Engine, mut request: ListExecutions) -> Result<ExecutionPage> {
    request.check()?;
    let limit = request.page.limit()?;
    request.namespace = engine.namespace_to_read(request.namespace)?;
    let page = std::mem::take(&mut request.page);
    let scope = format!("executions/{request:?}");
    let after = engine.open_cursor(&page, &scope).await?;
    let found = if is_of_foreign_flow(engine, &request).await? {
        Found::default()
    } else if request.id.is_empty() {
        let range = match request.order {
            ListOrder::Newest => newest(engine, &request),
            ListOrder::Next => next_in_lane(engine, &mut request).await?,
        };
        in_range(engine, &request, range, after, limit).await?
    } else {
        of_ids(engine, &request).await?
    };
    Ok(ExecutionPage {
        items: execution_views(engine, &found.executions).await?,
        next: engine.sign_cursor(found.next, &scope).await?,
        looked_at: found.looked_at as u64,
        reached_at: found.reached_at,
    })
}

/// Whether only members of a flow are wanted that is not in the namespace, or not at all. What is looked at would tell that it is.
async fn is_of_foreign_flow(engine: &Engine, request: &ListExecutions) -> Result<bool> {
    let (Some(flow_id), Some(namespace)) = (request.flow_id, &request.namespace) else {
        return Ok(false);
    };
    let key = RecordKey::Flow(flow_id);
    let load = Load::records(engine.home_of(flow_id), [key.clone()]);
    let snapshot = engine.store().load(load).await?;
    Ok(snapshot.flow(&key).is_none_or(|flow| flow.namespace != *namespace))
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

/// The narrowest lists that have everything a request wants, newest first.
fn newest(engine: &Engine, request: &ListExecutions) -> Range {
    let first = request
        .created_before
        .map(|before| before.as_millis().saturating_sub(1));
    let too_old = request.created_from.and_then(|from| from.as_millis().checked_sub(1));
    let newest = |millis| Order::newest(Timestamp::from_millis(millis));
    Range {
        from: first.map(newest),
        until: too_old.map(newest),
        ..engine.ranges(lists(request))
    }
}

fn lists(request: &ListExecutions) -> Vec<Index> {
    if let Some(flow_id) = request.flow_id {
        return vec![Index::Members(flow_id)];
    }
    let Some(namespace) = &request.namespace else {
        return vec![Index::Age(None)];
    };
    if let Some(tag) = request.tag.first() {
        return vec![Index::Tag(namespace.clone(), tag.key.clone(), tag.value.clone())];
    }
    let of_states = request.state.iter().map(|state| Index::of_state(namespace, *state));
    match of_states.collect::<Option<Vec<_>>>() {
        Some(of_states) if !of_states.is_empty() => of_states,
        _ => vec![Index::Age(Some(namespace.clone()))],
    }
}

/// What is handed out next in a lane: its queues, in their order.
async fn next_in_lane(engine: &Engine, request: &mut ListExecutions) -> Result<Range> {
    let namespace = request.namespace.get_or_insert_with(Namespace::default_namespace);
    engine.check_namespace(namespace)?;
    let (namespace, lanes) = (&*namespace, &request.lane);
    let of_lane = |queue: &QueueKey| queue.namespace == *namespace && lanes.contains(&queue.lane);
    Ok(engine.ranges(engine.queues(of_lane).await?))
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
    let environment = environment_of_eligible(engine, &seen, Gates::new()).await?;
    Ok(seen
        .into_iter()
        .map(|execution| execution_view(execution, &environment))
        .collect())
}
