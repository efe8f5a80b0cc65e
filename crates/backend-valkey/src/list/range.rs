//! Records of lists, in their order across partitions.

use ff_backend::codec::cursor::{Cut, VISITED_MAX};
use ff_backend::query::{Range, Rows};
use ff_core::machine::index::Index;
use ff_core::record::Record;

use super::Found;
use super::merge::Merge;
use super::reader::Reader;
use super::records::if_readable;
use crate::record;

/// Records that are read at once at most, when most of them are left out.
const BATCH_MAX: usize = 500;

pub(super) async fn range(reader: &mut Reader<'_>, range: &Range, cut: &Cut) -> Found {
    let mut merge = Merge::new(reader.shared, range, cut.after()?)?;
    let (mut rows, mut last, mut visited) = (Vec::new(), None, 0);
    let mut batch = cut.limit;
    while rows.len() < cut.limit && visited < VISITED_MAX {
        let places = merge.next(reader, batch).await?;
        if places.is_empty() {
            return Ok((Rows::Records(rows), None));
        }
        visited += places.len();
        // Whatever is left out, more of it is likely to follow.
        batch = (2 * batch).min(BATCH_MAX.max(cut.limit));
        let (orders, keys): (Vec<_>, Vec<_>) = places
            .into_iter()
            .map(|place| (place.order, (place.partition, place.key)))
            .unzip();
        for (order, found) in orders.into_iter().zip(reader.records(&keys).await?) {
            if rows.len() == cut.limit {
                return Ok((Rows::Records(rows), last));
            }
            let found = readable(range, found)?;
            rows.extend(found.filter(|(record, _)| is_wanted(range, record)));
            last = Some(cut.cursor(&order.as_str()));
        }
    }
    Ok((Rows::Records(rows), last.filter(|_| merge.has_more())))
}

/// What was read, unless it cannot be and may be left out: what concerns many must not stop at one.
fn readable(range: &Range, found: record::Found) -> record::Found {
    match range.of.iter().any(Index::must_be_whole) {
        true => found,
        false => Ok(if_readable(found)?.flatten()),
    }
}

/// Whether an execution is of a tenant whose executions are asked for: they are kept together.
fn is_wanted(range: &Range, record: &Record) -> bool {
    range.of.iter().any(|index| match (index, record) {
        (Index::Age(Some(namespace)), Record::Execution(execution)) => execution.definition.namespace == *namespace,
        _ => true,
    })
}
