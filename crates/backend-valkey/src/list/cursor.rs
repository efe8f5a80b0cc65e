//! Cutting a page out of a listing. A cursor names the last row seen by its sort key, so that writes before it move nothing.

use ff_backend::query::{Cursor, Query};
use ff_backend::{Error, Result};
use ff_core::limits::PAGE_MAX;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::corrupt;

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
        let key = |cursor: &Cursor| cursor.0.strip_prefix(shape).map(str::to_owned);
        let after = query
            .after
            .as_ref()
            .map(|cursor| key(cursor).ok_or(Error::InvalidCursor));
        Ok(Self {
            shape,
            after: after.transpose()?,
            limit: query.limit.clamp(1, PAGE_MAX),
        })
    }

    /// The sort key of the last row seen.
    pub(super) fn after<K: DeserializeOwned>(&self) -> Result<Option<K>> {
        let key = self.after.as_ref().map(|text| serde_json::from_str(text));
        key.transpose().map_err(|_| Error::InvalidCursor)
    }

    /// The cursor that goes on after the row with this key.
    pub(super) fn cursor(&self, key: &impl Serialize) -> Result<Cursor> {
        let key = serde_json::to_string(key).map_err(corrupt)?;
        Ok(Cursor(format!("{}{key}", self.shape)))
    }
}
