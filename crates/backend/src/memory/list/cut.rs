//! Cutting a page out of rows that are all at hand.

use std::ops::Bound;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::codec::cursor;
use crate::query::{Cursor, Query};
use crate::{Error, Result};

/// Which page of a listing to cut out.
pub(in crate::memory) struct Cut(cursor::Cut);

impl Cut {
    /// The page a query asks for; refuses the cursor of another kind of listing.
    pub(in crate::memory) fn new(query: &Query) -> Result<Self> {
        cursor::Cut::new(query).map(Self)
    }

    /// The sort key of the last row seen.
    pub(in crate::memory) fn after<K: DeserializeOwned>(&self) -> Result<Option<K>> {
        self.0.after()
    }

    /// Where to start.
    pub(in crate::memory) fn start<K: DeserializeOwned>(&self) -> Result<Bound<K>> {
        Ok(self.after()?.map_or(Bound::Unbounded, Bound::Excluded))
    }

    /// How many rows from the start decide the page, and whether there is another one.
    pub(in crate::memory) const fn reach(&self) -> usize {
        self.0.limit.saturating_add(1)
    }

    /// Takes a page of rows that come in the order of their keys, from [`Cut::start`] on. `None` is a row that does not
    /// belong to the listing.
    pub(in crate::memory) fn page<K: Serialize, R>(
        &self,
        rows: impl Iterator<Item = (K, Option<R>)>,
    ) -> Result<(Vec<R>, Option<Cursor>)> {
        self.0.page(rows.map(Ok::<_, Error>))
    }
}
