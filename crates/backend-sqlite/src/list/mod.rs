//! Listings: each one walks an index from the place its cursor names, and stops where the page is full.

mod audit;
mod blocked;
mod edges;
mod executions;
pub(crate) mod feed;
mod flows;
mod history;
mod lanes;
mod members;
mod partitions;
mod parts;
mod queues;
#[cfg(test)]
mod tests;
mod under;

use ff_backend::codec::cursor::Cut;
use ff_backend::query::{Cursor, Listing, Page, Query, Rows};
use ff_backend::transaction::Version;
use ff_backend::{Error, Result};
use ff_core::record::Stored;
use ff_core::time::Timestamp;
use rusqlite::{Connection, Row};
use serde::de::DeserializeOwned;

use self::partitions::Partitions;
use crate::backend::SqliteBackend;
use crate::record::{from_stored, version};
use crate::shared::Shared;

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

/// What a listing is answered from.
struct Reading<'r> {
    connection: &'r Connection,
    now: Timestamp,
    shared: &'r Shared,
}

impl SqliteBackend {
    /// One page of a listing.
    pub(crate) async fn list_page(&self, query: Query) -> Result<Page> {
        let shared = self.shared();
        self.read_store(move |connection, now| {
            let reading = Reading {
                connection,
                now,
                shared: &shared,
            };
            match reading.page(&query) {
                Ok(page) => Ok(Ok(page)),
                Err(Fault::Refused(error)) => Ok(Err(error)),
                Err(Fault::Store(error)) => Err(error),
            }
        })
        .await?
    }
}

impl Reading<'_> {
    fn page(&self, query: &Query) -> Answer<Page> {
        let (rows, next) = self.rows(query)?;
        let now = match query.of {
            Listing::Feed(_) => feed::read_at(self.connection)?,
            _ => self.now,
        };
        Ok(Page { now, rows, next })
    }

    fn rows(&self, query: &Query) -> Found {
        let (connection, cut) = (self.connection, &Cut::new(query)?);
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
            Listing::BufferedSignals {
                execution_id,
                waitpoint_id,
            } => parts::buffered_signals(connection, *execution_id, *waitpoint_id, cut),
            Listing::History(subject) => history::history(connection, *subject, cut),
            Listing::Feed(asked) => feed::feed(connection, asked, query, &mut self.shared.feed_spans()),
            Listing::Marks(_) if query.after.is_some() => Err(Error::InvalidCursor.into()),
            Listing::Marks(partitions) => Ok((Rows::Marks(self.shared.hints().marks(partitions)), None)),
            Listing::Blocked { partitions, cause } => {
                blocked::blocked(connection, &Partitions::of(partitions), *cause, cut)
            }
            Listing::BlockedCauses(partitions) => blocked::blocked_causes(connection, &Partitions::of(partitions), cut),
            Listing::QueuedUnder { partitions, budget_id } => {
                under::queued(connection, &Partitions::of(partitions), *budget_id, cut)
            }
            Listing::LeasedUnder { partitions, budget_id } => {
                under::leased(connection, &Partitions::of(partitions), *budget_id, cut)
            }
            Listing::Queues(partitions) => {
                let after = queues::after(cut)?;
                let filled = self.shared.queues().filled(partitions, after.as_ref(), cut.limit + 1);
                queues::queues(connection, filled, cut)
            }
            Listing::Lanes(namespace) => lanes::lanes(connection, namespace, cut),
            Listing::Audit(partition) => audit::audit(connection, *partition, self.now, cut),
        }
    }
}

/// The text of the id last seen; empty, which comes before every id, at the beginning.
fn after_id<I: DeserializeOwned + ToString>(cut: &Cut) -> Result<String> {
    Ok(cut.after::<I>()?.map_or_else(String::new, |id| id.to_string()))
}

/// A record that stands in three columns: version, tag, body.
fn versioned<T: Stored>(row: &Row<'_>, column: usize) -> rusqlite::Result<(T, Version)> {
    let body = row.get_ref(column + 2)?;
    Ok((from_stored(body.as_str()?)?, version(row, column)?))
}

/// Like [`versioned`]; the statement leaves the body out of rows that do not belong to the listing.
fn versioned_if_listed<T: Stored>(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<(T, Version)>> {
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
