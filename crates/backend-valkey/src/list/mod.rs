//! Listings: each one walks sorted sets from the place its cursor names, and reads the records it meets.
//!
//! Everything is done with plain reading commands, many in one call. The names of a page and its records are read one after
//! the other: a record that has left the index meanwhile is left out of the page.

mod audit;
mod blocked;
mod executions;
mod feed;
mod flows;
mod history;
mod lanes;
mod partitions;
mod parts;
mod queues;
mod reader;
mod records;
mod under;
mod walk;

use ff_backend::codec::cursor::Cut;
use ff_backend::query::{Cursor, Listing, Page, Query, Rows};
use ff_backend::{Error, Result};

use self::reader::Reader;
use crate::shared::Shared;

/// The rows of a page, and where the next one starts.
type Found = Result<(Rows, Option<Cursor>)>;

impl Shared {
    /// One page of a listing.
    pub(crate) async fn list(&self, query: Query) -> Result<Page> {
        let mut reader = Reader::of(self);
        let (rows, next) = rows(&mut reader, &query).await?;
        let now = match reader.now().or_else(|| self.estimated_now()) {
            Some(now) => now,
            None => self.ping().await?,
        };
        Ok(Page { now, rows, next })
    }
}

async fn rows(reader: &mut Reader<'_>, query: &Query) -> Found {
    let cut = &Cut::new(query)?;
    match &query.of {
        Listing::Executions(filter) => executions::executions(reader, filter, cut).await,
        Listing::Flows(filter) => flows::flows(reader, filter, cut).await,
        Listing::Members { flow_id, open_only } => parts::members(reader, *flow_id, *open_only, cut).await,
        Listing::EdgesFrom {
            upstream,
            unresolved_only,
        } => parts::edges_from(reader, *upstream, *unresolved_only, cut).await,
        Listing::EdgesInto { downstream } => parts::edges_into(reader, *downstream, cut).await,
        Listing::Attempts(id) => parts::attempts(reader, *id, cut).await,
        Listing::Waitpoints(id) => parts::waitpoints(reader, *id, cut).await,
        Listing::Signals(id) => parts::signals(reader, *id, cut).await,
        Listing::BufferedSignals {
            execution_id,
            waitpoint_id,
        } => parts::buffered_signals(reader, *execution_id, *waitpoint_id, cut).await,
        Listing::History(subject) => history::history(reader, *subject, cut).await,
        Listing::Feed(asked) => feed::feed(reader, asked, query).await,
        Listing::Marks(_) if query.after.is_some() => Err(Error::InvalidCursor),
        Listing::Marks(partitions) => Ok((Rows::Marks(reader.shared.marks_of(partitions).await?), None)),
        Listing::Blocked { partitions, cause } => blocked::blocked(reader, partitions, *cause, cut).await,
        Listing::BlockedCauses(partitions) => blocked::causes(reader, partitions, cut).await,
        Listing::QueuedUnder { partitions, budget_id } => under::queued(reader, partitions, *budget_id, cut).await,
        Listing::LeasedUnder { partitions, budget_id } => under::leased(reader, partitions, *budget_id, cut).await,
        Listing::Queues(partitions) => queues::queues(reader, partitions, cut).await,
        Listing::Lanes(namespace) => lanes::lanes(reader, namespace, cut).await,
        Listing::Audit(partition) => audit::audit(reader, *partition, cut).await,
    }
}
