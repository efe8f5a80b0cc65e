//! Listings, each one a walk along an index from the place its cursor names.

mod cut;
mod executions;
mod partition;
mod parts;
mod told;

use self::cut::Cut;
use super::flaw::Flaw;
use super::store::Store;
use crate::query::{Cursor, Listing, Page, Query, Rows};
use crate::{Error, Result};

/// The rows of a page, and where the next one starts.
type Found = Result<(Rows, Option<Cursor>)>;

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
        let cut = &Cut::new(query, self.flawed(Flaw::ListCursorByOffset))?;
        match &query.of {
            Listing::Executions(filter) => self.list_executions(filter, cut),
            Listing::Flows(filter) => self.list_flows(filter, cut),
            Listing::Lanes(namespace) => self.list_lanes(namespace, cut),
            Listing::Members { flow_id, open_only } => self.list_members(*flow_id, *open_only, cut),
            Listing::EdgesFrom {
                upstream,
                unresolved_only,
            } => self.list_edges_from(*upstream, *unresolved_only, cut),
            Listing::EdgesInto { downstream } => self.list_edges_into(*downstream, cut),
            Listing::Attempts(id) => self.list_attempts(*id, cut),
            Listing::Waitpoints(id) => self.list_waitpoints(*id, cut),
            Listing::Signals(id) => self.list_signals(*id, cut, |_| true),
            Listing::BufferedSignals {
                execution_id,
                waitpoint_id,
            } => self.list_signals(*execution_id, cut, |signal| {
                signal.waiting_at() == Some(*waitpoint_id) || self.shows_everything()
            }),
            Listing::History(subject) => self.list_history(subject, cut),
            Listing::Feed(_) | Listing::Marks(_) if query.after.is_some() => Err(Error::InvalidCursor),
            Listing::Feed(asked) => self.list_feed(asked, query.page_limit()),
            Listing::Marks(partitions) => Ok((Rows::Marks(self.hints.marks(partitions)), None)),
            Listing::Blocked { partitions, cause } => self.list_blocked(partitions, *cause, cut),
            Listing::BlockedCauses(partitions) => self.list_blocked_causes(partitions, cut),
            Listing::QueuedUnder { partitions, budget_id } => self.list_queued_under(partitions, *budget_id, cut),
            Listing::LeasedUnder { partitions, budget_id } => self.list_leased_under(partitions, *budget_id, cut),
            Listing::Queues(partitions) => self.list_queues(partitions, cut),
            Listing::Audit(partition) => self.list_audit(*partition, cut),
        }
    }
}
