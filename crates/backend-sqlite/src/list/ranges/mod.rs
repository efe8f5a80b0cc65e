//! Records of lists, in the order of their places across partitions and lists.

mod follow;

use std::collections::{BTreeMap, BTreeSet};

use ff_backend::codec::cursor::{Cut, Start, VISITED_MAX};
use ff_backend::query::{Range, Rows};
use ff_core::machine::index::{Index, Order};
use ff_core::partition::Partition;
use ff_core::record::RecordKey;

use super::{Found, Reading};
use crate::error::if_readable;
use crate::record;

/// What stands at a place of a list.
type Place = (Order, (Partition, RecordKey));

/// A walk along lists, which collects what may be on the page.
struct Walk<'q> {
    range: &'q Range,
    partitions: BTreeSet<Partition>,
    /// Places of one list that decide the page, and whether there is another one.
    reach: usize,
    found: BTreeMap<Order, (Partition, RecordKey)>,
    /// The last place before which nothing is unknown, if a list was not followed further.
    stopped_at: Option<Order>,
}

impl Reading<'_, '_> {
    pub(super) fn list_range(&self, range: &Range, cut: &Cut) -> Found {
        let start = Start::of(range, cut)?;
        let mut walk = Walk::new(range, cut);
        for list in &range.of {
            self.follow(list, &start, &mut walk)?;
        }
        let (places, stopped_at) = walk.end();
        let (shown, next) = cut.first(places, |(order, _)| order.as_str().to_owned());
        let next = next.or_else(|| stopped_at.map(|order| cut.cursor(&order.as_str())));
        let must_be_whole = range.of.iter().any(Index::must_be_whole);
        let mut rows = Vec::new();
        for (_, (partition, key)) in shown {
            let read = record::load(self.database, partition, &key, self.now);
            rows.extend(if must_be_whole {
                read?
            } else {
                if_readable(read)?.flatten()
            });
        }
        Ok((Rows::Records(rows), next))
    }
}

impl<'q> Walk<'q> {
    fn new(range: &'q Range, cut: &Cut) -> Self {
        Self {
            range,
            partitions: range.partitions.iter().copied().collect(),
            reach: cut.limit + 1,
            found: BTreeMap::new(),
            stopped_at: None,
        }
    }

    /// Goes along a list until it has enough of it, or has looked at too much.
    fn along(&mut self, places: impl Iterator<Item = rusqlite::Result<Place>>) -> rusqlite::Result<()> {
        let (mut wanted, mut visited) = (0, 0);
        for place in places {
            let (order, stands) = place?;
            if !self.range.reaches(&order) {
                break;
            }
            visited += 1;
            // Nothing is known of what this list has after its last place.
            if visited == VISITED_MAX && self.stopped_at.as_ref().is_none_or(|stopped_at| order < *stopped_at) {
                self.stopped_at = Some(order.clone());
            }
            if self.partitions.contains(&stands.0) {
                self.found.insert(order, stands);
                wanted += 1;
            }
            if wanted == self.reach || visited == VISITED_MAX {
                break;
            }
        }
        Ok(())
    }

    /// What was found, as far as every list was followed, and how far that is if not to the end.
    fn end(mut self) -> (Vec<Place>, Option<Order>) {
        if let Some(stopped_at) = &self.stopped_at {
            self.found.retain(|order, _| order <= stopped_at);
        }
        (self.found.into_iter().collect(), self.stopped_at)
    }
}
