//! Listings: each one reads an index from the place its cursor names, and the records it meets.

mod accounts;
mod audit;
mod feed;
mod heads;
mod history;
mod lanes;
mod marks;
mod range;

use std::borrow::Cow;
use std::collections::BTreeSet;

use ff_backend::codec::cursor::Cut;
use ff_backend::query::{Cursor, Listing, Page, Query, Rows};
use ff_backend::{Error, Result};
use ff_core::id::FlowId;
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::{Family, Partition};
use ff_core::record::{AboutLines, HistorySubject};
use ff_core::time::Timestamp;
use uuid::Uuid;

use crate::error::corrupt;
use crate::shared::{Shared, count, number};

/// The store's time, the rows of a page, and where the next one starts.
type Found = Result<(Timestamp, Rows, Option<Cursor>)>;

impl Shared {
    /// One page of a listing.
    pub(crate) async fn list(&self, query: Query) -> Result<Page> {
        let (now, rows, next) = self.page(&query).await?;
        Ok(Page { now, rows, next })
    }

    async fn page(&self, query: &Query) -> Found {
        let cut = &Cut::new(query)?;
        match &query.of {
            Listing::Range(range) => self.list_range(range, cut).await,
            Listing::Heads { of, partitions, count } => self.list_heads((*of, partitions), *count, cut).await,
            Listing::History(subject) => self.list_history(*subject, cut).await,
            Listing::Feed(_) | Listing::Marks(_) if query.after.is_some() => Err(Error::InvalidCursor),
            Listing::Feed(asked) => self.list_feed(asked, cut.limit).await,
            Listing::Marks(partitions) => self.list_marks(partitions).await,
            Listing::Lanes(namespace) => self.list_lanes(namespace, cut).await,
            Listing::Accounts { kind, namespace } => self.list_accounts(*kind, namespace, cut).await,
            Listing::Audit(partition) => self.list_audit(*partition, cut).await,
        }
    }
}

/// The numbers of flow partitions, each one once and in order. Others hold nothing that is listed by partition.
fn flow_numbers(partitions: &[Partition]) -> Vec<i16> {
    let flow = partitions.iter().filter(|partition| partition.family == Family::Flow);
    let once: BTreeSet<i16> = flow.map(|partition| number(*partition)).collect();
    once.into_iter().collect()
}

/// What lines leave out, as it stands in the columns of their namespace, lane and kind. Those of a flow leave nothing out, so whatever
/// this says of them is read nowhere.
fn about(
    subject: HistorySubject,
    (namespace, lane, kind): (Option<String>, Option<String>, Option<String>),
    flow_id: Option<Uuid>,
) -> Result<AboutLines<'static>> {
    let namespace = namespace.map(Namespace::parse).transpose().map_err(corrupt)?;
    let lane = lane.map(LaneId::parse).transpose().map_err(corrupt)?;
    Ok(AboutLines {
        subject,
        namespace: Cow::Owned(namespace.unwrap_or_else(Namespace::default_namespace)),
        lane: lane.map(Cow::Owned),
        flow_id: flow_id.map(FlowId::from_uuid),
        kind: Cow::Owned(kind.unwrap_or_default()),
    })
}

/// Rows to ask for: one more than a page has tells whether there is another one.
fn one_more(cut: &Cut) -> i64 {
    count(cut.limit) + 1
}
