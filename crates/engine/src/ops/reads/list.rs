//! list_executions, and views of executions for other listings.
//!
//! The store walks the narrowest index it has for the filter; what it cannot filter by is filtered here, by the one rule
//! [`ListExecutions::matches`], up to a number of rows that are looked at.

use std::collections::BTreeMap;

use ff_backend::load::Load;
use ff_backend::query::{Cursor, ExecutionFilter, Listing};
use ff_core::command::page::PageRequest;
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::id::ExecutionId;
use ff_core::limits::{LOOKED_AT_MAX, PAGE_MAX};
use ff_core::machine::placement::{Placement, Score, placement, score};
use ff_core::name::Namespace;
use ff_core::partition::Partition;
use ff_core::record::{Execution, Record, RecordKey};
use ff_core::state::PublicState;
use ff_core::time::Timestamp;
use ff_core::view::{ExecutionPage, ExecutionView, ListExecutions, ListOrder};
use futures::future::try_join_all;
use serde::{Deserialize, Serialize};

use super::environment::{Gates, environment_of_eligible};
use super::view::execution_view;
use crate::engine::Engine;

pub(crate) async fn list_executions(engine: &Engine, mut request: ListExecutions) -> Result<ExecutionPage> {
    request.check()?;
    let limit = request.page.limit()?;
    request.namespace = engine.namespace_to_read(request.namespace)?;
    let page = std::mem::take(&mut request.page);
    let scope = format!("executions/{request:?}");
    let from = place_of(engine, &page, &scope).await?;
    let found = if request.order == ListOrder::Next {
        next_in_lane(engine, request, from, limit).await?
    } else if request.id.is_empty() {
        newest(engine, &request, from, limit).await?
    } else {
        of_ids(engine, &request).await?
    };
    let next = found.next.as_ref().map(Place::to_cursor).transpose()?;
    Ok(ExecutionPage {
        items: execution_views(engine, &found.executions).await?,
        next: engine.sign_cursor(next, &scope).await?,
        looked_at: found.looked_at as u64,
        reached_at: found.reached_at,
    })
}

/// What was found for one page.
#[derive(Default)]
struct Found {
    executions: Vec<Execution>,
    looked_at: usize,
    reached_at: Option<Timestamp>,
    next: Option<Place>,
}

/// Where a listing goes on: in the store's listing, and after which execution of that page.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Place {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seen: Option<Seen>,
}

/// What orders executions in both orders: priority, moment of creation, id.
type Seen = (u16, Timestamp, ExecutionId);

impl Place {
    fn to_cursor(&self) -> Result<Cursor> {
        let text = serde_json::to_string(self).map_err(|error| crate::fault::internal(&error.to_string()))?;
        Ok(Cursor(text))
    }
}

async fn place_of(engine: &Engine, page: &PageRequest, scope: &str) -> Result<Place> {
    let Some(Cursor(text)) = engine.open_cursor(page, scope).await? else {
        return Ok(Place::default());
    };
    let invalid = |_| Code::InvalidCursor.because("the cursor is not one of this listing; start without one");
    serde_json::from_str(&text).map_err(invalid)
}

fn seen(execution: &Execution) -> Seen {
    (execution.priority, execution.definition.created_at, execution.id)
}

/// The newest that match, page of the store by page of the store.
async fn newest(engine: &Engine, request: &ListExecutions, from: Place, limit: usize) -> Result<Found> {
    let filter = store_filter(request);
    // What the store filters by itself is not fetched in vain.
    let chunk = if is_covered(request) { limit } else { PAGE_MAX };
    let (mut found, mut place) = (Found::default(), from);
    loop {
        let after = place.after.clone().map(Cursor);
        let page = engine
            .store()
            .list(Listing::Executions(filter.clone()), after, chunk)
            .await?;
        let next = page.next.clone();
        let rows = page.executions();
        // A store that stops early has looked at more than it shows.
        found.looked_at += if next.is_some() { chunk } else { rows.len() };
        for (execution, _) in rows {
            if place
                .seen
                .is_some_and(|(_, created_at, id)| (execution.definition.created_at, execution.id) >= (created_at, id))
            {
                continue;
            }
            if found.executions.len() == limit {
                found.next = Some(place);
                return Ok(found);
            }
            found.reached_at = Some(execution.definition.created_at);
            place.seen = Some(seen(&execution));
            if request.matches(&execution) && engine.sees(&execution) {
                found.executions.push(execution);
            }
        }
        let Some(Cursor(next)) = next else { return Ok(found) };
        place = Place {
            after: Some(next),
            seen: None,
        };
        if found.executions.len() == limit || found.looked_at >= LOOKED_AT_MAX {
            found.next = Some(place);
            return Ok(found);
        }
    }
}

/// The part of a filter that every store applies by itself.
fn store_filter(request: &ListExecutions) -> ExecutionFilter {
    fn only<T: Clone>(values: &[T]) -> Option<T> {
        values.first().filter(|_| values.len() == 1).cloned()
    }
    let tag = request.tag.first();
    ExecutionFilter {
        namespace: request.namespace.clone(),
        lane: only(&request.lane),
        state: only(&request.state),
        kind: only(&request.kind),
        tag: tag.map(|tag| (tag.key.clone(), tag.value.clone())),
        flow_id: request.flow_id,
        created_from: request.created_from,
        created_before: request.created_before,
    }
}

/// Whether the store's part of a filter is all of it.
fn is_covered(request: &ListExecutions) -> bool {
    let single =
        request.lane.len() <= 1 && request.state.len() <= 1 && request.kind.len() <= 1 && request.tag.len() <= 1;
    let ended = request.ended_from.is_some() || request.ended_before.is_some();
    single && !ended && request.worker.is_none() && request.category.is_none()
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
        .filter_map(|(record, _)| match record {
            Record::Execution(execution) => Some(*execution),
            _ => None,
        })
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

/// What is handed out next in a lane. No listing of the store is in this order, so all that waits there is looked at, as far as
/// one page looks.
async fn next_in_lane(engine: &Engine, mut request: ListExecutions, from: Place, limit: usize) -> Result<Found> {
    let namespace = request.namespace.get_or_insert_with(Namespace::default_namespace);
    engine.check_namespace(namespace)?;
    let mut waiting = Vec::new();
    let mut found = Found::default();
    for state in [PublicState::Waiting, PublicState::Resumable] {
        request.state = vec![state];
        let mut pages = engine
            .store()
            .pages(Listing::Executions(store_filter(&request)), PAGE_MAX);
        while found.looked_at < LOOKED_AT_MAX
            && let Some(page) = pages.next().await?
        {
            let rows = page.executions();
            found.looked_at += if pages.is_over() { rows.len() } else { PAGE_MAX };
            let in_queue = |execution: &Execution| matches!(placement(execution), Placement::Eligible { .. });
            waiting.extend(rows.into_iter().map(|(execution, _)| execution).filter(in_queue));
        }
    }
    waiting.sort_by_key(score);
    let passed = from.seen.map(|(priority, created_at, id)| Score {
        priority: std::cmp::Reverse(priority),
        created_at,
        id,
    });
    let mut rest = waiting
        .into_iter()
        .filter(|execution| passed.is_none_or(|passed| score(execution) > passed))
        .peekable();
    found.executions = rest.by_ref().take(limit).collect();
    let last = found.executions.last().filter(|_| rest.peek().is_some());
    found.next = last.map(|last| Place {
        after: None,
        seen: Some(seen(last)),
    });
    found.reached_at = found
        .executions
        .iter()
        .map(|execution| execution.definition.created_at)
        .min();
    Ok(found)
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
