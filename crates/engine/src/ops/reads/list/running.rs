//! What runs. Whatever ran for longer than a moment has a list of its own, so that it is found however much has ended since; the rest
//! is looked for among the newest, a little further with every page.

use ff_backend::query::{Cursor, Range};
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::limits::PAGE_MAX;
use ff_core::machine::index::{Index, Order};
use ff_core::name::Namespace;
use ff_core::record::{Execution, Record};
use ff_core::state::PublicState;
use ff_core::time::Timestamp;
use ff_core::view::{ListExecutions, ListOrder};
use futures::try_join;
use serde::{Deserialize, Serialize};

use super::{Found, execution};
use crate::engine::Engine;
use crate::lists::{Matching, created_between};

/// How far each of the two lists was read.
#[derive(Clone, Serialize, Deserialize)]
struct Places {
    renewed: Place,
    others: Place,
}

#[derive(Clone, Serialize, Deserialize)]
enum Place {
    Start,
    After(String),
    End,
}

/// Some rows of one of the lists, and where it goes on after all of them.
struct Part {
    rows: Vec<(Order, Execution)>,
    from: Place,
    next: Place,
    looked_at: usize,
    reached_at: Option<Timestamp>,
}

/// Whether a request wants what runs in one namespace, and no narrower list has it.
pub(super) fn is_meant_by(request: &ListExecutions) -> bool {
    let no_narrower_list = request.flow_id.is_none() && request.tag.is_empty() && request.cause.is_empty();
    request.order == ListOrder::Newest
        && request.state[..] == [PublicState::Active]
        && request.namespace.is_some()
        && no_narrower_list
}

/// Newest first within a page. A later page may have something newer that has not been renewed yet.
pub(super) async fn list(
    engine: &Engine,
    request: &ListExecutions,
    after: Option<Cursor>,
    limit: usize,
) -> Result<Found> {
    let Places { renewed, others } = places(after.as_ref())?;
    let namespace = request.namespace.clone().unwrap_or_else(Namespace::default_namespace);
    let is_renewed = |execution: &Execution| execution.lease().is_some_and(|lease| lease.is_renewed());
    let (renewed, others) = try_join!(
        part(
            engine,
            request,
            Index::Running(namespace.clone()),
            renewed,
            limit,
            |_| true
        ),
        part(engine, request, Index::Age(Some(namespace)), others, limit, |found| {
            !is_renewed(found)
        }),
    )?;
    let looked_at = renewed.looked_at + others.looked_at;
    // Of what runs for longer nothing is missing, so it is the others that say how far back this page goes.
    let reached_at = others.reached_at.or(renewed.reached_at);
    let (executions, places) = merged(renewed, others, limit)?;
    Ok(Found {
        executions,
        looked_at,
        reached_at,
        next: places,
    })
}

async fn part(
    engine: &Engine,
    request: &ListExecutions,
    index: Index,
    from: Place,
    limit: usize,
    is_of_part: impl Fn(&Execution) -> bool + Send + Sync,
) -> Result<Part> {
    let after = match &from {
        Place::Start => None,
        Place::After(place) => Some(Cursor(place.clone())),
        Place::End => {
            return Ok(Part {
                rows: Vec::new(),
                next: from.clone(),
                from,
                looked_at: 0,
                reached_at: None,
            });
        }
    };
    let range = created_between(engine.range(index), request.created_from, request.created_before);
    let mut reached_at = None;
    let matches = |record: &Record| match record {
        Record::Execution(execution) => {
            reached_at = Some(execution.definition.created_at);
            request.matches(execution) && engine.sees(execution) && is_of_part(execution)
        }
        _ => false,
    };
    let found = engine
        .matching_within(PAGE_MAX, range.clone(), after, limit, matches)
        .await?;
    let Matching { rows, looked_at, next } = found;
    let placed = |(record, _)| Some((range.order_of(&record)?, execution(record)?));
    Ok(Part {
        rows: rows.into_iter().filter_map(placed).collect(),
        from,
        next: next.map_or(Place::End, |next| Place::After(next.0)),
        looked_at,
        reached_at,
    })
}

/// The newest of both, and where to go on.
fn merged(renewed: Part, others: Part, limit: usize) -> Result<(Vec<Execution>, Option<Cursor>)> {
    let mut last: Vec<&Order> = renewed
        .rows
        .iter()
        .chain(&others.rows)
        .map(|(order, _)| order)
        .collect();
    last.sort();
    let last = last.get(limit - 1).map(|order| (*order).clone());
    let is_shown = |order: &Order| last.as_ref().is_none_or(|last| order <= last);
    let places = Places {
        renewed: renewed.place_after(is_shown),
        others: others.place_after(is_shown),
    };
    let rows = renewed.rows.into_iter().chain(others.rows);
    let mut rows: Vec<(Order, Execution)> = rows.filter(|(order, _)| is_shown(order)).collect();
    rows.sort_by(|(one, _), (other, _)| one.cmp(other));
    let cursor = match places {
        Places {
            renewed: Place::End,
            others: Place::End,
        } => None,
        places => {
            let text = serde_json::to_string(&places);
            Some(Cursor(text.map_err(|error| Code::Internal.because(error.to_string()))?))
        }
    };
    Ok((rows.into_iter().map(|(_, execution)| execution).collect(), cursor))
}

impl Part {
    /// Where to go on when only some of the first rows are shown.
    fn place_after(&self, is_shown: impl Fn(&Order) -> bool) -> Place {
        let shown = self.rows.iter().take_while(|(order, _)| is_shown(order)).count();
        match shown {
            _ if shown == self.rows.len() => self.next.clone(),
            0 => self.from.clone(),
            shown => Place::After(Range::cursor(&self.rows[shown - 1].0).0),
        }
    }
}

fn places(after: Option<&Cursor>) -> Result<Places> {
    let Some(after) = after else {
        return Ok(Places {
            renewed: Place::Start,
            others: Place::Start,
        });
    };
    let invalid = |_| Code::InvalidCursor.because("the cursor is not one of this listing; start without one");
    serde_json::from_str(&after.0).map_err(invalid)
}
