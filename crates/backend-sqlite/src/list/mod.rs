//! Listings: each one walks an index from the place its cursor names, and stops where the page is full.

mod accounts;
mod audit;
pub(crate) mod feed;
mod heads;
mod history;
mod lanes;
mod ranges;
#[cfg(test)]
pub(crate) mod tests;

use ff_backend::codec::cursor::Cut;
use ff_backend::query::{Cursor, Listing, Page, Query, Rows};
use ff_backend::{Error, Result};
use ff_core::time::Timestamp;

use crate::database::Database;
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
struct Reading<'r, 'c> {
    database: &'r Database<'c>,
    now: Timestamp,
    shared: &'r Shared,
}

/// One page of a listing, or why it is refused.
pub(crate) fn page(
    database: &Database<'_>,
    shared: &Shared,
    now: Timestamp,
    query: &Query,
) -> rusqlite::Result<Result<Page>> {
    let reading = Reading { database, now, shared };
    match reading.page(query) {
        Ok(page) => Ok(Ok(page)),
        Err(Fault::Refused(error)) => Ok(Err(error)),
        Err(Fault::Store(error)) => Err(error),
    }
}

impl Reading<'_, '_> {
    fn page(&self, query: &Query) -> Answer<Page> {
        let (rows, next) = self.rows(query)?;
        let now = match query.of {
            Listing::Feed(_) => feed::read_at(self.database)?,
            _ => self.now,
        };
        Ok(Page { now, rows, next })
    }

    fn rows(&self, query: &Query) -> Found {
        let (database, cut) = (self.database, &Cut::new(query)?);
        match &query.of {
            Listing::Range(range) => self.list_range(range, cut),
            Listing::Heads { of, partitions, count } => self.list_heads((*of, partitions), *count, cut),
            Listing::History(subject) => self.list_history(*subject, cut),
            Listing::Feed(asked) => feed::feed(database, asked, query, &mut self.shared.feed_spans()),
            Listing::Marks(_) if query.after.is_some() => Err(Error::InvalidCursor.into()),
            Listing::Marks(partitions) => Ok((Rows::Marks(self.shared.hints().marks(partitions)), None)),
            Listing::Lanes(namespace) => self.list_lanes(namespace, cut),
            Listing::Accounts { kind, namespace } => self.list_accounts(*kind, namespace, cut),
            Listing::Audit(partition) => self.list_audit(*partition, cut),
        }
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
