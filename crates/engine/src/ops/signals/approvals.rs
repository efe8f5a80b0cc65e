//! Everything that waits for a person.

use std::collections::BTreeMap;

use ff_backend::query::{Cursor, ExecutionFilter, Listing};
use ff_core::command::page::Page;
use ff_core::command::signal::{Approval, ListApprovals};
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::id::ExecutionId;
use ff_core::limits::PAGE_MAX;
use ff_core::machine::approval::approval;
use ff_core::name::Namespace;
use ff_core::state::PublicState;
use ff_core::time::Timestamp;

use crate::engine::Engine;
use crate::fault::internal;

/// Pages of suspended executions one call looks through.
const PAGES_MAX: usize = 100;

/// A place in the list: smaller comes first.
type Order = (bool, Timestamp, ExecutionId);

/// No store keeps this order, so every page walks all that is suspended and keeps the first few after its cursor. That
/// is right as long as people can answer what waits for them; beyond 100,000 the newest of it is what they see.
///
/// What is escalated between two pages moves to the front and is seen by whoever starts again.
pub(crate) async fn approvals(engine: &Engine, request: ListApprovals) -> Result<Page<Approval>> {
    let limit = request.page.limit()?;
    let namespace = engine.namespace_to_read(request.namespace)?;
    let scope = format!("approvals/{namespace:?}");
    let after = match engine.open_cursor(&request.page, &scope).await? {
        None => None,
        Some(cursor) => Some(parse(&cursor)?),
    };
    let mut first = first_approvals(engine, namespace, after, limit + 1).await?;
    let more = first.len() > limit;
    if more {
        first.pop_last();
    }
    let last = first.last_key_value().filter(|_| more);
    let next = last.map(|(order, _)| to_cursor(order)).transpose()?;
    Ok(Page {
        next: engine.sign_cursor(next, &scope).await?,
        items: first.into_values().collect(),
    })
}

/// The first `count` approvals after a place.
async fn first_approvals(
    engine: &Engine,
    namespace: Option<Namespace>,
    after: Option<Order>,
    count: usize,
) -> Result<BTreeMap<Order, Approval>> {
    let suspended = ExecutionFilter {
        namespace,
        state: Some(PublicState::Suspended),
        ..ExecutionFilter::default()
    };
    let mut first = BTreeMap::new();
    let mut pages = engine.store().pages(Listing::Executions(suspended), PAGE_MAX);
    for _ in 0..PAGES_MAX {
        let Some(page) = pages.next().await? else {
            return Ok(first);
        };
        let waiting = page
            .executions()
            .into_iter()
            .filter_map(|(execution, _)| approval(&execution));
        for approval in waiting.filter(|approval| after.is_none_or(|after| approval.order() > after)) {
            first.insert(approval.order(), approval);
            if first.len() > count {
                first.pop_last();
            }
        }
    }
    if !pages.is_over() {
        tracing::warn!("too much is suspended to list all that waits for a person");
    }
    Ok(first)
}

fn to_cursor(order: &Order) -> Result<Cursor> {
    let text = serde_json::to_string(order).map_err(|error| internal(&error.to_string()))?;
    Ok(Cursor(text))
}

fn parse(cursor: &Cursor) -> Result<Order> {
    let invalid = |_| Code::InvalidCursor.because("the cursor is not one of this listing; start without one");
    serde_json::from_str(&cursor.0).map_err(invalid)
}
