//! All pages of a listing.

use ff_backend::query::{Cursor, Listing, Page};
use ff_core::fabric::Result;
use ff_core::limits::PAGE_MAX;

use super::Store;

/// The pages of a listing, one after the other.
pub(crate) struct Pages<'s> {
    store: &'s Store,
    of: Listing,
    limit: usize,
    after: Option<Cursor>,
    is_over: bool,
}

impl Store {
    /// The pages of a listing, with at most `limit` rows each.
    pub(crate) fn pages(&self, of: impl Into<Listing>, limit: usize) -> Pages<'_> {
        Pages {
            store: self,
            of: of.into(),
            limit,
            after: None,
            is_over: false,
        }
    }

    /// Every row of a listing, however many pages that takes.
    pub(crate) async fn list_all<R>(&self, of: impl Into<Listing>, rows_of: impl Fn(Page) -> Vec<R>) -> Result<Vec<R>> {
        let (mut rows, mut pages) = (Vec::new(), self.pages(of, PAGE_MAX));
        while let Some(page) = pages.next().await? {
            rows.extend(rows_of(page));
        }
        Ok(rows)
    }
}

impl Pages<'_> {
    /// The next page; `None`: that was all.
    pub(crate) async fn next(&mut self) -> Result<Option<Page>> {
        if self.is_over {
            return Ok(None);
        }
        let page = self.store.list(self.of.clone(), self.after.clone(), self.limit).await?;
        self.after.clone_from(&page.next);
        self.is_over = page.next.is_none();
        Ok(Some(page))
    }

    /// Whether the last page was read.
    pub(crate) const fn is_over(&self) -> bool {
        self.is_over
    }
}
