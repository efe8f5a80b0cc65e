//! Ranges that begin, end or go on at the wrong place, and heads that are none.

use std::sync::Mutex;

use async_trait::async_trait;
use ff_backend::layer::Layer;
use ff_backend::query::{Cursor, Head, Listing, Page, Query, Range, Rows};
use ff_backend::{Backend, Result};
use ff_core::limits::PAGE_MAX;
use ff_core::machine::index::{Entry, Index, Order, entries, native_entries};
use ff_core::record::Record;

use crate::liar::lies;

lies! {
    // Heads that were there once.
    Mutex<Vec<Head>>;
    /// Ranges begin at the beginning.
    FromIgnored,
    /// The record at the very place a range begins is left out.
    FromExcluded,
    /// Ranges end at the end.
    UntilIgnored,
    /// The record at the very place a range ends is in it.
    UntilIncluded,
    /// A page begins with the last row of the one before.
    CursorIncluded,
    /// Of several lists the first is listed.
    OneOfSeveralLists,
    /// A record of two lists comes twice.
    RecordOfTwoListsTwice,
    /// A head is not the first of its list, but the last.
    HeadsAreLast,
    /// A list that had anything still has a head.
    HeadsOfEmptyLists,
    /// A list is as long as it is, however much was to be counted.
    CountedBeyond,
    /// Of two entries and more, one is not counted.
    OneNotCounted,
}

#[async_trait]
impl Layer for Liar {
    fn inner(&self) -> &dyn Backend {
        &*self.honest
    }

    async fn list(&self, mut query: Query) -> Result<Page> {
        let asked = query.clone();
        if let (Lie::CountedBeyond, Listing::Heads { count, .. }) = (self.lie, &mut query.of) {
            *count = u64::MAX;
        }
        if let Listing::Range(range) = &mut query.of {
            match self.lie {
                Lie::FromIgnored => range.from = None,
                Lie::FromExcluded => range.from = range.from.take().map(just_after),
                Lie::UntilIgnored => range.until = None,
                Lie::UntilIncluded => range.until = range.until.take().map(just_after),
                Lie::OneOfSeveralLists => range.of.truncate(1),
                Lie::RecordOfTwoListsTwice if range.of.len() > 1 => query.limit = (query.limit / 2).max(1),
                Lie::CursorIncluded => {
                    if let Some(place) = query.after.as_ref().and_then(place) {
                        range.from = Some(place);
                        query.after = None;
                    }
                }
                _ => {}
            }
        }
        let mut page = self.inner().list(query).await?;
        match (self.lie, &asked.of, &mut page.rows) {
            (Lie::RecordOfTwoListsTwice, Listing::Range(range), Rows::Records(rows)) => {
                let times = |record: &Record| places_in(record, range).count().clamp(1, 2);
                let repeated = rows.iter().flat_map(|row| vec![row.clone(); times(&row.0)]);
                *rows = repeated.collect();
            }
            (Lie::HeadsAreLast, _, Rows::Heads(heads)) => {
                for head in heads {
                    head.first = self.last_of(head).await?;
                }
            }
            (Lie::OneNotCounted, _, Rows::Heads(heads)) => {
                heads
                    .iter_mut()
                    .for_each(|head| head.length -= u64::from(head.length > 1));
            }
            (Lie::HeadsOfEmptyLists, _, Rows::Heads(heads)) => self.keep_heads(heads, asked.limit),
            _ => {}
        }
        Ok(page)
    }
}

impl Liar {
    /// The last place in a list that has a head.
    async fn last_of(&self, head: &Head) -> Result<Order> {
        let range = Range::of(head.index.clone(), vec![head.partition]);
        let query = Query {
            of: range.clone().into(),
            after: None,
            limit: PAGE_MAX,
        };
        let rows = self.inner().list(query).await?.records();
        let last = rows.last().and_then(|(record, _)| places_in(record, &range).next());
        Ok(last.map_or_else(|| head.first.clone(), |entry| entry.order))
    }

    /// Adds heads that were there before, while there is room.
    fn keep_heads(&self, heads: &mut Vec<Head>, limit: usize) {
        let mut seen = self.seen.lock().expect("no panic");
        let is_gone = |old: &&Head| {
            !heads
                .iter()
                .any(|head| (head.partition, &head.index) == (old.partition, &old.index))
        };
        let gone: Vec<Head> = seen.iter().filter(is_gone).cloned().collect();
        seen.extend(heads.iter().cloned());
        heads.extend(gone);
        heads.truncate(limit);
    }
}

/// Where a record stands in the lists of a range.
fn places_in(record: &Record, range: &Range) -> impl Iterator<Item = Entry> {
    let all = entries(record).into_iter().chain(native_entries(record));
    let is_of: &[Index] = &range.of;
    all.filter(|entry| is_of.contains(&entry.index))
}

/// The next place, unless no place is longer.
fn just_after(order: Order) -> Order {
    Order::parse(&format!("{}0", order.as_str())).unwrap_or(order)
}

fn place(cursor: &Cursor) -> Option<Order> {
    let text = cursor.0.strip_prefix("range:\"")?.strip_suffix('"')?;
    Order::parse(text)
}
