//! Listings, page after page, up to as many as were asked for.

use ff_core::command::page::{Page, PageRequest};
use ff_core::fabric::Result;
use ff_core::limits::PAGE_MAX;
use serde::Serialize;

use super::output::{Out, Table};
use crate::say;

/// Pages of one listing: one may be empty and still have a next.
const PAGES_MAX: usize = 1_000;
/// No listing shows more.
const LIMIT_MAX: u32 = 10_000;

/// How many things a listing shows.
#[derive(Clone, Copy, clap::Args)]
pub(crate) struct Limit {
    /// At most this many
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=i64::from(LIMIT_MAX)))]
    limit: u32,
}

/// What was listed.
pub(crate) struct Listed<T> {
    pub(crate) items: Vec<T>,
    /// There are others.
    pub(crate) is_cut: bool,
}

impl Limit {
    /// Asks for page after page until there are enough.
    pub(crate) async fn list<T>(self, ask: impl AsyncFnMut(PageRequest) -> Result<Page<T>>) -> Result<Listed<T>> {
        list(self.limit as usize, ask).await
    }

    /// Prints what was listed. A person is told of an empty list, and when there is more than was asked for.
    pub(crate) fn print<T: Serialize>(
        self,
        out: Out,
        listed: &Listed<T>,
        table: impl FnOnce(&[T]) -> Table,
        none: &str,
    ) -> anyhow::Result<()> {
        out.list(&listed.items, || table(&listed.items), none)?;
        match self.limit.saturating_mul(4).min(LIMIT_MAX) {
            _ if !listed.is_cut => {}
            LIMIT_MAX if self.limit == LIMIT_MAX => {
                say::aside("There are more than a listing shows: say which are meant.");
            }
            more => say::aside(format_args!("There are more: --limit {more} shows up to {more}.")),
        }
        Ok(())
    }
}

/// Up to so many things of a listing.
pub(crate) async fn list<T>(
    limit: usize,
    mut ask: impl AsyncFnMut(PageRequest) -> Result<Page<T>>,
) -> Result<Listed<T>> {
    let (mut items, mut cursor) = (Vec::new(), None);
    for _ in 0..PAGES_MAX {
        let page = PageRequest {
            cursor: cursor.take(),
            // One more than is shown tells whether there is more.
            limit: Some((limit + 1 - items.len()).min(PAGE_MAX)),
        };
        let mut page = ask(page).await?;
        items.append(&mut page.items);
        cursor = page.next;
        if items.len() > limit || cursor.is_none() {
            break;
        }
    }
    let is_cut = items.len() > limit || cursor.is_some();
    items.truncate(limit);
    Ok(Listed { items, is_cut })
}

#[cfg(test)]
mod tests {
    use ff_core::token::SignedCursor;

    use super::*;

    fn numbers(count: usize) -> impl AsyncFnMut(PageRequest) -> Result<Page<usize>> {
        let mut given = 0;
        async move |page: PageRequest| {
            let end = count.min(given + page.limit.unwrap_or(50).min(3));
            let items = (given..end).collect();
            given = end;
            let next = (end < count).then(|| SignedCursor::from_text("x"));
            Ok(Page { items, next })
        }
    }

    #[tokio::test]
    async fn pages_are_asked_for_until_there_are_enough() {
        let listed = list(5, numbers(9)).await.unwrap();
        assert_eq!((listed.items, listed.is_cut), (vec![0, 1, 2, 3, 4], true));
        let listed = list(9, numbers(9)).await.unwrap();
        assert_eq!((listed.items.len(), listed.is_cut), (9, false));
        assert!(list(9, numbers(0)).await.unwrap().items.is_empty());
    }
}
