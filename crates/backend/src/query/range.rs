//! Records of lists, and which lists there are.

use ff_core::machine::index::{Index, Order, entries, native_entries};
use ff_core::machine::placement::queue_of;
use ff_core::partition::Partition;
use ff_core::record::Record;

use super::{Cursor, Listing};

/// What cursors begin with.
pub(super) const PREFIX: &str = "range:";

/// Which records of which lists. A record that stands in several of them comes once; whether it still belongs there is for the
/// reader to see, who has the record.
///
/// Several lists are of one kind, and not of parts of executions: only then does an order name one record.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The lists.
    pub of: Vec<Index>,
    /// Where; what a list has in other partitions is left out.
    pub partitions: Vec<Partition>,
    /// From this place on, unless there is a cursor.
    pub from: Option<Order>,
    /// Before this place.
    pub until: Option<Order>,
}

/// Which lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadsOf {
    /// [`Index::Queue`].
    Queues,
    /// [`Index::Blocked`].
    Blocked,
}

/// A list that is not empty, in one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Where.
    pub partition: Partition,
    /// Which list.
    pub index: Index,
    /// The first place in it.
    pub first: Order,
    /// How many entries it has there, up to the number that was to be counted.
    pub length: u64,
}

impl Range {
    /// Everything in a list.
    pub fn of(index: Index, partitions: Vec<Partition>) -> Self {
        Self {
            of: vec![index],
            partitions,
            from: None,
            until: None,
        }
    }

    /// Whether a record belongs to one of the lists as it is now: what stands there by mistake shows nothing wrong.
    pub fn holds(&self, record: &Record) -> bool {
        let entries = entries(record);
        self.of.iter().any(|index| match index {
            // Which queue it is in is for the store to say: very many share one.
            Index::Queue(_) => queue_of(record).is_some(),
            index if index.is_native() => true,
            index => entries.iter().any(|entry| entry.index == *index),
        })
    }

    /// Where a record stands in it.
    pub fn order_of(&self, record: &Record) -> Option<Order> {
        let all = entries(record).into_iter().chain(native_entries(record));
        let mut here = all.filter(|entry| self.of.contains(&entry.index));
        here.next().map(|entry| entry.order)
    }

    /// Where it goes on after this place: what every store answers, and takes.
    pub fn cursor(order: &Order) -> Cursor {
        Cursor(format!("{PREFIX}\"{}\"", order.as_str()))
    }

    /// Whether an order is before the end.
    pub fn reaches(&self, order: &Order) -> bool {
        self.until.as_ref().is_none_or(|until| order < until)
    }
}

impl From<Range> for Listing {
    fn from(range: Range) -> Self {
        Listing::Range(range)
    }
}
