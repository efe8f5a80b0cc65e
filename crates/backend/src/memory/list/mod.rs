//! Listings, each one a walk along an index from the place its cursor names.

mod audit;
mod cut;
mod lanes;
mod ranges;
mod told;

pub(super) use self::cut::Cut;
use super::store::Store;
use crate::query::{Cursor, Listing, Page, Query, Rows};
use crate::{Error, Result};

/// The rows of a page, and where the next one starts.
pub(super) type Found = Result<(Rows, Option<Cursor>)>;

impl Store {
    /// One page of a listing.
    pub(super) fn list(&mut self, query: &Query) -> Result<Page> {
        if let Listing::Feed(asked) = &query.of {
            asked.iter().for_each(|(partition, _)| self.trim_feed(*partition));
        }
        let (rows, next) = self.rows(query)?;
        Ok(Page {
            now: self.now,
            rows,
            next,
        })
    }

    fn rows(&self, query: &Query) -> Found {
        let cut = &Cut::new(query)?;
        match &query.of {
            Listing::Range(range) => self.list_range(range, cut),
            Listing::Heads { of, partitions, count } => self.list_heads((*of, partitions), *count, cut),
            Listing::Lanes(namespace) => self.list_lanes(namespace, cut),
            Listing::History(subject) => self.list_history(subject, cut),
            Listing::Feed(_) | Listing::Marks(_) if query.after.is_some() => Err(Error::InvalidCursor),
            Listing::Feed(asked) => self.list_feed(asked, query.page_limit()),
            Listing::Marks(partitions) => Ok((Rows::Marks(self.hints.marks(partitions)), None)),
            Listing::Accounts { kind, namespace } => self.list_accounts(*kind, namespace, cut),
            Listing::Audit(partition) => self.list_audit(*partition, cut),
        }
    }
}
