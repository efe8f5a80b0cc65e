//! Cutting a page out of a listing. A cursor names the last row seen by its sort key, so that writes before it move nothing.

use ff_core::machine::index::Order;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::query::{Cursor, Query, Range};
use crate::{Error, Result};

/// Rows a page looks at before it stops early and lets the caller go on.
pub const VISITED_MAX: usize = 2_000;

/// Which page of a listing to cut out.
#[derive(Clone, Debug)]
pub struct Cut {
    shape: &'static str,
    after: Option<String>,
    /// Rows of a page at most.
    pub limit: usize,
}

impl Cut {
    /// The page a query asks for; refuses the cursor of another kind of listing.
    pub fn new(query: &Query) -> Result<Self> {
        let shape = query.of.cursor_prefix();
        let key = |cursor: &Cursor| cursor.0.strip_prefix(shape).map(str::to_owned);
        let after = query
            .after
            .as_ref()
            .map(|cursor| key(cursor).ok_or(Error::InvalidCursor));
        Ok(Self {
            shape,
            after: after.transpose()?,
            limit: query.page_limit(),
        })
    }

    /// The sort key of the last row seen.
    pub fn after<K: DeserializeOwned>(&self) -> Result<Option<K>> {
        let key = self.after.as_ref().map(|text| serde_json::from_str(text));
        key.transpose().map_err(|_| Error::InvalidCursor)
    }

    /// The cursor that goes on after the row with this key.
    pub fn cursor(&self, key: &impl Serialize) -> Cursor {
        let key = serde_json::to_string(key).expect("a sort key is a document");
        Cursor(format!("{}{key}", self.shape))
    }

    /// Takes a page of rows that come in the order of their keys, from the first after the cursor on. `None` is a row that does
    /// not belong to the listing.
    pub fn page<K: Serialize, R, E>(
        &self,
        mut rows: impl Iterator<Item = std::result::Result<(K, Option<R>), E>>,
    ) -> std::result::Result<(Vec<R>, Option<Cursor>), E> {
        let (mut page, mut last, mut visited) = (Vec::new(), None, 0);
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
        let next = last.filter(|_| more).map(|key| self.cursor(&key));
        Ok((page, next))
    }

    /// Takes a page of what was found after the cursor: the rows of the page, and one more if there is one.
    pub fn first<R, K: Serialize>(&self, mut found: Vec<R>, key: impl Fn(&R) -> K) -> (Vec<R>, Option<Cursor>) {
        let more = found.len() > self.limit;
        found.truncate(self.limit);
        let last = found.last().filter(|_| more);
        let next = last.map(|row| self.cursor(&key(row)));
        (found, next)
    }
}

/// The place in lists a page begins at, or after.
#[derive(Clone, Debug)]
pub struct Start {
    /// Where.
    pub order: Order,
    /// The page begins after that place.
    pub is_after: bool,
}

impl Start {
    /// Where a page of a range begins.
    pub fn of(range: &Range, cut: &Cut) -> Result<Self> {
        let after = cut.after::<String>()?.map(|text| Order::parse(&text));
        Ok(Self {
            is_after: after.is_some(),
            order: match after {
                Some(after) => after.ok_or(Error::InvalidCursor)?,
                None => range.from.clone().unwrap_or_default(),
            },
        })
    }

    /// What the place says to one kind of list.
    pub fn read<T>(&self, read: impl FnOnce(&Order) -> Option<T>) -> Result<T> {
        read(&self.order).ok_or(Error::InvalidCursor)
    }

    /// The text to begin at: between a place and itself with a zero behind there is none.
    pub fn text(&self, text: &impl ToString) -> String {
        let mut text = text.to_string();
        text.extend(self.is_after.then_some('0'));
        text
    }
}

#[cfg(test)]
mod tests {
    use ff_core::name::Namespace;

    use super::*;
    use crate::query::Listing;

    fn query(after: Option<Cursor>, limit: usize) -> Query {
        Query {
            of: Listing::Lanes(Namespace::default_namespace()),
            after,
            limit,
        }
    }

    /// The even ones of some numbers, and where to go on.
    fn even(numbers: std::ops::Range<u32>, limit: usize) -> (Vec<u32>, Option<Cursor>) {
        let rows = numbers.map(|number| Ok::<_, Error>((number, (number % 2 == 0).then_some(number))));
        Cut::new(&query(None, limit)).unwrap().page(rows).unwrap()
    }

    fn after(cursor: Option<Cursor>) -> Option<u32> {
        Cut::new(&query(cursor, 1)).unwrap().after().unwrap()
    }

    #[test]
    fn a_page_goes_on_after_the_last_row_it_looked_at() {
        let (page, next) = even(0..10, 2);
        assert_eq!((page, after(next)), (vec![0, 2], Some(2)));
        let (page, next) = even(0..3, 2);
        assert_eq!((page, next), (vec![0, 2], None));
        let (page, next) = even(0..2, 2);
        assert_eq!((page, next), (vec![0], None));
    }

    #[test]
    fn a_page_that_finds_too_little_stops_and_goes_on() {
        let rows = (0..).map(|number: usize| Ok::<_, Error>((number, None::<usize>)));
        let (page, next) = Cut::new(&query(None, 1)).unwrap().page(rows).unwrap();
        assert!(page.is_empty() && after(next) == u32::try_from(VISITED_MAX - 1).ok());
    }

    #[test]
    fn one_row_more_than_a_page_has_tells_that_there_is_another() {
        let cut = Cut::new(&query(None, 2)).unwrap();
        let (page, next) = cut.first(vec![1_u32, 2, 3], |row| *row);
        assert_eq!((page, after(next)), (vec![1, 2], Some(2)));
        assert_eq!(cut.first(vec![1_u32, 2], |row| *row), (vec![1, 2], None));
    }

    #[test]
    fn a_cursor_of_another_listing_or_another_shape_is_refused() {
        let other = Cut::new(&query(Some(Cursor("heads:1".to_owned())), 1));
        assert_eq!(other.err(), Some(Error::InvalidCursor));
        let cut = Cut::new(&query(Some(Cursor("lanes:{}".to_owned())), 1)).unwrap();
        assert_eq!(cut.after::<u32>(), Err(Error::InvalidCursor));
    }
}
