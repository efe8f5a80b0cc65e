//! Listings, page after page, up to as many as were asked for.

use ff_core::command::page::{Page, PageRequest};
use ff_core::fabric::Result;
use ff_core::limits::PAGE_MAX;

use crate::say;

/// Pages of one listing: one may be empty and still have a next.
const PAGES_MAX: usize = 1_000;

/// How many things a listing shows.
#[derive(Clone, Copy, clap::Args)]
pub(crate) struct Limit {
    /// At most this many
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
}

/// What was listed.
pub(crate) struct Listed<T> {
    pub(crate) items: Vec<T>,
    /// There are others.
    is_cut: bool,
}

impl Limit {
    /// Asks for page after page until there are enough.
    pub(crate) async fn list<T>(self, ask: impl AsyncFnMut(PageRequest) -> Result<Page<T>>) -> Result<Listed<T>> {
        list(self.limit as usize, ask).await
    }

    /// What a person is told when there is more than was asked for.
    pub(crate) fn tell_of_more<T>(self, listed: &Listed<T>) {
        if listed.is_cut {
            let more = self.limit.saturating_mul(4).min(10_000);
            say::aside(format_args!("There are more: --limit {more} shows them."));
        }
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
