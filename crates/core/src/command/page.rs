//! Pages: every listing is bounded and goes on from a cursor.

use serde::{Deserialize, Serialize};

use crate::error::{Code, Rejection};
use crate::limits::{PAGE_DEFAULT, PAGE_MAX};
use crate::name::Namespace;
use crate::token::SignedCursor;

/// Which page of a listing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PageRequest {
    /// Where to go on: `next` of the page before; absent: from the beginning.
    pub cursor: Option<SignedCursor>,
    /// At most this many; absent: 50, at most 1,000.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::text::page))]
    pub limit: Option<usize>,
}

impl PageRequest {
    /// How many are wanted at most.
    pub fn limit(&self) -> Result<usize, Rejection> {
        let limit = self.limit.unwrap_or(PAGE_DEFAULT);
        if !(1..=PAGE_MAX).contains(&limit) {
            return Err(Code::InvalidInput.because(format!("a page has 1 to {PAGE_MAX} entries, not {limit}")));
        }
        Ok(limit)
    }
}

/// One page of a listing. It may be shorter than asked for, or empty, and still have a next one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "{T}Page"))]
pub struct Page<T> {
    /// The entries, in the order of the listing.
    pub items: Vec<T>,
    /// Where to go on; absent: that was all.
    pub next: Option<SignedCursor>,
}

/// Asks for everything of one kind in a namespace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListOf {
    /// The tenant; unless given that of the key, or else `default`.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// Where to go on, and how many at most.
    #[serde(rename = "..page")]
    pub page: PageRequest,
}
