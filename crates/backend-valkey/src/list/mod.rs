//! Listings: each one reads sorted sets from the place its cursor names, and the records it meets.
//!
//! Everything is done with plain reading commands, many in one call. The names of a page and its records are read one after
//! the other: a record that has left the index meanwhile is left out of the page.

mod accounts;
mod audit;
mod feed;
mod heads;
mod history;
mod lanes;
mod merge;
mod range;
mod reader;
mod records;
mod source;

use std::collections::BTreeSet;

use ff_backend::codec::cursor::Cut;
use ff_backend::query::{Cursor, Listing, Page, Query, Rows};
use ff_backend::{Error, Result};
use ff_core::partition::{Family, Partition};

use self::reader::Reader;
use crate::shared::Shared;

/// The rows of a page, and where the next one starts.
type Found = Result<(Rows, Option<Cursor>)>;

impl Shared {
    /// One page of a listing.
    pub(crate) async fn list(&self, query: Query) -> Result<Page> {
        let mut reader = Reader::of(self);
        let (rows, next) = rows(&mut reader, &query).await?;
        let now = match reader.now() {
            Some(now) => now,
            None => self.known_now().await?,
        };
        Ok(Page { now, rows, next })
    }
}

async fn rows(reader: &mut Reader<'_>, query: &Query) -> Found {
    let cut = &Cut::new(query)?;
    match &query.of {
        Listing::Range(asked) => range::range(reader, asked, cut).await,
        Listing::Heads { of, partitions, count } => heads::heads(reader, (*of, partitions), *count, cut).await,
        Listing::History(subject) => history::history(reader, *subject, cut).await,
        Listing::Feed(_) | Listing::Marks(_) if query.after.is_some() => Err(Error::InvalidCursor),
        Listing::Feed(asked) => feed::feed(reader, asked, cut.limit).await,
        Listing::Marks(partitions) => Ok((Rows::Marks(reader.shared.marks_of(partitions).await?), None)),
        Listing::Lanes(namespace) => lanes::lanes(reader, namespace, cut).await,
        Listing::Accounts { kind, namespace } => accounts::accounts(reader, *kind, namespace, cut).await,
        Listing::Audit(partition) => audit::audit(reader, *partition, cut).await,
    }
}

/// Flow partitions, each one once and in order. Others hold nothing that is listed by partition.
fn flow_partitions(partitions: &[Partition]) -> BTreeSet<Partition> {
    let flow = partitions.iter().filter(|partition| partition.family == Family::Flow);
    flow.copied().collect()
}
