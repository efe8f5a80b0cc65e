//! Reading a chunk of what has to be done.

use ff_backend::query::{Page, Range};
use ff_core::fabric::Result;
use ff_core::limits::FOLLOW_UP_CHUNK;

use super::walk_positions::WalkPosition;
use crate::engine::Engine;

/// Pages looked at for one chunk: rows that need nothing are passed over without a commit, but not without end.
const PAGES_PER_CHUNK_MAX: usize = 16;

/// A chunk of rows that have to be dealt with.
pub(super) struct Walked<R> {
    pub(super) rows: Vec<R>,
    /// Where the next chunk starts; `None`: this is the last one.
    pub(super) next: Option<WalkPosition>,
}

impl<R> Walked<R> {
    pub(super) fn is_last(&self) -> bool {
        self.next.is_none()
    }

    /// Nothing to do here, but perhaps further on.
    pub(super) fn is_idle(&self) -> bool {
        self.rows.is_empty() && !self.is_last()
    }
}

/// Walks through `listings`, one after the other, from `position` until there is a chunk of rows that are `wanted`.
pub(super) async fn read_chunk<R>(
    engine: &Engine,
    listings: &[Range],
    position: WalkPosition,
    rows_of: impl Fn(Page) -> Vec<R>,
    wanted: impl Fn(&R) -> bool,
) -> Result<Walked<R>> {
    let mut rows = Vec::new();
    let mut next = Some(position);
    for _ in 0..PAGES_PER_CHUNK_MAX {
        let Some(position) = next.clone().filter(|_| rows.len() < FOLLOW_UP_CHUNK) else {
            break;
        };
        let room = FOLLOW_UP_CHUNK - rows.len();
        let listing = listings[position.listing].clone();
        let page = engine.store().list(listing, position.cursor, room).await?;
        next = match page.next.clone() {
            Some(cursor) => Some(WalkPosition {
                listing: position.listing,
                cursor: Some(cursor),
            }),
            None => Some(WalkPosition {
                listing: position.listing + 1,
                cursor: None,
            })
            .filter(|position| position.listing < listings.len()),
        };
        rows.extend(rows_of(page).into_iter().filter(&wanted));
    }
    Ok(Walked { rows, next })
}
