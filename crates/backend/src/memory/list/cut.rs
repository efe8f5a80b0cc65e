//! Cutting a page out of a listing, with the flaw of cursors that count rows.

use std::ops::Bound;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::codec::cursor;
use crate::query::{Cursor, Query};
use crate::{Error, Result};

/// Which page of a listing to cut out.
pub(super) struct Cut {
    cut: cursor::Cut,
    /// The flaw: how many rows the pages before had.
    offset: Option<usize>,
}

impl Cut {
    /// The page a query asks for; refuses the cursor of another kind of listing.
    pub(super) fn new(query: &Query, by_offset: bool) -> Result<Self> {
        let cut = cursor::Cut::new(query)?;
        let offset = by_offset.then(|| cut.after().ok().flatten().unwrap_or(0));
        Ok(Self { cut, offset })
    }

    /// The sort key of the last row seen.
    pub(super) fn after<K: DeserializeOwned>(&self) -> Result<Option<K>> {
        match self.offset {
            None => self.cut.after(),
            Some(_) => Ok(None),
        }
    }

    /// Where to start.
    pub(super) fn start<K: DeserializeOwned>(&self) -> Result<Bound<K>> {
        Ok(self.after()?.map_or(Bound::Unbounded, Bound::Excluded))
    }

    /// How many rows from the start decide the page, and whether there is another one.
    pub(super) fn reach(&self) -> usize {
        self.offset
            .unwrap_or(0)
            .saturating_add(self.cut.limit)
            .saturating_add(1)
    }

    /// Takes a page of rows that come in the order of their keys, from [`Cut::start`] on. `None` is a row that does not
    /// belong to the listing.
    pub(super) fn page<K: Serialize, R>(
        &self,
        rows: impl Iterator<Item = (K, Option<R>)>,
    ) -> Result<(Vec<R>, Option<Cursor>)> {
        let Some(skipped) = self.offset else {
            return self.cut.page(rows.map(Ok::<_, Error>));
        };
        let numbered = (skipped + 1..).zip(rows.skip(skipped));
        self.cut
            .page(numbered.map(|(number, (_, row))| Ok::<_, Error>((number, row))))
    }
}
