//! Listings: each one walks an index from the place its cursor names, and stops where the page is full.

mod audit;
mod blocked;
mod cursor;
mod edges;
mod executions;
mod feed;
mod flows;
mod history;
mod lanes;
mod members;
mod parts;
mod queues;
#[cfg(test)]
mod tests;
mod under;

use ff_backend::query::{Cursor, Listing, Page, Query, Rows};
use ff_backend::transaction::Version;
use ff_backend::{Error, Result};
use ff_core::time::Timestamp;
use rusqlite::{Connection, Row};
use serde::de::DeserializeOwned;

use self::cursor::Cut;
use crate::backend::SqliteBackend;
use crate::queues::FilledQueue;
use crate::record::{from_json, version};

/// Rows a page looks at before it stops early and lets the caller go on.
const VISITED_MAX: usize = 2_000;

/// Why a listing has no answer.
enum Fault {
    /// The caller must change something.
    Refused(Error),
    /// SQLite failed.
    Store(rusqlite::Error),
}

/// What comes of a listing.
type Answer<T> = std::result::Result<T, Fault>;

/// The rows of a page, and where the next one starts.
type Found = Answer<(Rows, Option<Cursor>)>;

impl SqliteBackend {
    /// One page of a listing.
    pub(crate) async fn list_page(&self, query: Query) -> Result<Page> {
        let filled = match &query.of {
            Listing::Queues(partition) => self.filled_queues(*partition),
            _ => Vec::new(),
        };
        self.read_store(move |connection, now| match rows(connection, &query, &filled, now) {
            Ok((rows, next)) => Ok(Ok(Page { now, rows, next })),
            Err(Fault::Refused(error)) => Ok(Err(error)),
            Err(Fault::Store(error)) => Err(error),
        })
        .await?
    }
}

fn rows(connection: &Connection, query: &Query, filled: &[FilledQueue], now: Timestamp) -> Found {
    let cut = &Cut::new(query)?;
    match &query.of {
        Listing::Executions(filter) => executions::executions(connection, filter, cut),
        Listing::Flows(filter) => flows::flows(connection, filter, cut),
        Listing::Members { flow_id, open_only } => members::members(connection, *flow_id, *open_only, cut),
        Listing::EdgesFrom {
            upstream,
            unresolved_only: false,
        } => edges::from(connection, *upstream, cut),
        Listing::EdgesFrom {
            upstream,
            unresolved_only: true,
        } => edges::unresolved_from(connection, *upstream, cut),
        Listing::EdgesInto { downstream } => edges::into(connection, *downstream, cut),
        Listing::Attempts(id) => parts::attempts(connection, *id, cut),
        Listing::Waitpoints(id) => parts::waitpoints(connection, *id, cut),
        Listing::Signals(id) => parts::signals(connection, *id, cut),
        Listing::History(subject) => history::history(connection, *subject, cut),
        Listing::Feed(partition) => feed::feed(connection, *partition, query),
        Listing::Blocked { partition, cause } => blocked::blocked(connection, *partition, *cause, cut),
        Listing::BlockedCauses(partition) => blocked::blocked_causes(connection, *partition, cut),
        Listing::QueuedUnder { partition, budget_id } => under::queued(connection, *partition, *budget_id, cut),
        Listing::LeasedUnder { partition, budget_id } => under::leased(connection, *partition, *budget_id, cut),
        Listing::Queues(partition) => queues::queues(connection, *partition, filled, cut),
        Listing::Lanes(namespace) => lanes::lanes(connection, namespace, cut),
        Listing::Audit(partition) => audit::audit(connection, *partition, now, cut),
    }
}

/// A record that stands in three columns: version, tag, body.
fn versioned<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<(T, Version)> {
    let body = row.get_ref(column + 2)?;
    Ok((from_json(body.as_str()?)?, version(row, column)?))
}

/// Like [`versioned`]; the statement leaves the body out of rows that do not belong to the listing.
fn versioned_if_listed<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<(T, Version)>> {
    match row.get_ref(column + 2)? {
        rusqlite::types::ValueRef::Null => Ok(None),
        _ => versioned(row, column).map(Some),
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::Refused(error)
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Fault::Store(error)
    }
}
