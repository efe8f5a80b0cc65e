//! Cutting a page out of a listing. A cursor names the last row seen by its sort key, so that writes before it move nothing.

use ff_backend::query::{Cursor, Query};
use ff_backend::{Error, Result};
use ff_core::limits::PAGE_MAX;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Answer, VISITED_MAX};
use crate::record::to_json;

/// Which page of a listing to cut out.
pub(super) struct Cut {
    shape: &'static str,
    after: Option<String>,
    /// Rows of a page at most.
    pub(super) limit: usize,
}

impl Cut {
    /// The page a query asks for; refuses the cursor of another kind of listing.
    pub(super) fn new(query: &Query) -> Result<Self> {
        let shape = query.of.cursor_prefix();
        let after = match &query.after {
            None => None,
            Some(Cursor(text)) => Some(text.strip_prefix(shape).ok_or(Error::InvalidCursor)?.to_owned()),
        };
        Ok(Self {
            shape,
            after,
            limit: page_limit(query),
        })
    }

    /// The sort key of the last row seen.
    pub(super) fn after<K: DeserializeOwned>(&self) -> Result<Option<K>> {
        let key = self.after.as_ref().map(|text| serde_json::from_str(text));
        key.transpose().map_err(|_| Error::InvalidCursor)
    }

    /// The text of the id last seen; empty, which comes before every id, at the beginning.
    pub(super) fn after_id<I: DeserializeOwned + ToString>(&self) -> Result<String> {
        Ok(self.after::<I>()?.map_or_else(String::new, |id| id.to_string()))
    }

    /// Takes a page of rows that come in the order of their keys. `None` is a row that does not belong to the listing.
    pub(super) fn page<K: Serialize, R>(
        &self,
        mut rows: impl Iterator<Item = rusqlite::Result<(K, Option<R>)>>,
    ) -> Answer<(Vec<R>, Option<Cursor>)> {
        let (mut page, mut last) = (Vec::new(), None);
        let mut visited = 0;
        while page.len() < self.limit && visited < VISITED_MAX {
            let Some(row) = rows.next() else {
                return Ok((page, None));
            };
            let (key, row) = row?;
            page.extend(row);
            last = Some(key);
            visited += 1;
        }
        let more = rows.next().transpose()?.is_some();
        let next = last.filter(|_| more).map(|key| self.cursor(&key)).transpose()?;
        Ok((page, next))
    }

    /// The cursor that goes on after the row with this key.
    pub(super) fn cursor(&self, key: &impl Serialize) -> rusqlite::Result<Cursor> {
        Ok(Cursor(format!("{}{}", self.shape, to_json(key)?)))
    }
}

/// Rows the page of a query has at most.
pub(super) fn page_limit(query: &Query) -> usize {
    query.limit.clamp(1, PAGE_MAX)
}
