//! Cutting a page out of a listing. A cursor names the last row seen by its sort key, so that writes before it move nothing.

use std::ops::Bound;

use ff_core::limits::PAGE_MAX;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::query::{Cursor, Query};
use crate::{Error, Result};

/// Rows a page looks at before it stops early and lets the caller go on.
const VISITED_MAX: usize = 10_000;

/// Which page of a listing to cut out.
pub(super) struct Cut {
    shape: &'static str,
    after: Option<String>,
    limit: usize,
    /// The flaw of cursors that count rows.
    by_offset: bool,
}

impl Cut {
    /// The page a query asks for; refuses the cursor of another kind of listing.
    pub(super) fn new(query: &Query, by_offset: bool) -> Result<Self> {
        let shape = query.of.cursor_prefix();
        let after = match &query.after {
            None => None,
            Some(Cursor(text)) => {
                let key = text.strip_prefix(shape).ok_or(Error::InvalidCursor)?;
                Some(key.to_owned())
            }
        };
        let limit = query.limit.clamp(1, PAGE_MAX);
        Ok(Self {
            shape,
            after,
            limit,
            by_offset,
        })
    }

    /// The sort key of the last row seen.
    pub(super) fn after<K: DeserializeOwned>(&self) -> Result<Option<K>> {
        match &self.after {
            Some(text) if !self.by_offset => serde_json::from_str(text).map(Some).map_err(|_| Error::InvalidCursor),
            _ => Ok(None),
        }
    }

    /// Where to start.
    pub(super) fn start<K: DeserializeOwned>(&self) -> Result<Bound<K>> {
        Ok(self.after()?.map_or(Bound::Unbounded, Bound::Excluded))
    }

    /// How many rows from the start decide the page, and whether there is another one.
    pub(super) fn reach(&self) -> usize {
        self.offset().saturating_add(self.limit).saturating_add(1)
    }

    /// Takes a page of rows that come in the order of their keys, from [`Cut::start`] on. `None` is a row that does not
    /// belong to the listing.
    pub(super) fn page<K: Serialize, R>(
        &self,
        rows: impl Iterator<Item = (K, Option<R>)>,
    ) -> Result<(Vec<R>, Option<Cursor>)> {
        let skipped = self.offset();
        let mut rows = rows.skip(skipped).peekable();
        let (mut page, mut last, mut visited) = (Vec::new(), None, 0);
        while page.len() < self.limit
            && visited < VISITED_MAX
            && let Some((key, row)) = rows.next()
        {
            visited += 1;
            page.extend(row);
            last = Some(key);
        }
        let next = match last.filter(|_| rows.peek().is_some()) {
            None => None,
            Some(_) if self.by_offset => Some(self.cursor(&(skipped + visited))?),
            Some(key) => Some(self.cursor(&key)?),
        };
        Ok((page, next))
    }

    fn cursor(&self, key: &impl Serialize) -> Result<Cursor> {
        let key = serde_json::to_string(key).map_err(|error| Error::Corrupt(error.to_string()))?;
        Ok(Cursor(format!("{}{key}", self.shape)))
    }

    fn offset(&self) -> usize {
        let text = self.after.as_ref().filter(|_| self.by_offset);
        text.and_then(|text| text.parse().ok()).unwrap_or(0)
    }
}
