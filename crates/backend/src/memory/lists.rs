//! Lists of records, in the order each of them has.

use std::collections::BTreeMap;
use std::ops::Bound;

use ff_core::machine::index::{Entry, Index, Order};
use ff_core::partition::Partition;
use ff_core::record::RecordKey;

/// Every list that is not empty.
#[derive(Clone, Default)]
pub(super) struct Lists(BTreeMap<Index, List>);

/// What stands where in a list.
type List = BTreeMap<Order, (Partition, RecordKey)>;

impl Lists {
    pub(super) fn enter(&mut self, entry: Entry, partition: Partition, key: &RecordKey) {
        let list = self.0.entry(entry.index).or_default();
        list.insert(entry.order, (partition, key.clone()));
    }

    pub(super) fn leave(&mut self, entry: &Entry) {
        let Some(list) = self.0.get_mut(&entry.index) else {
            return;
        };
        list.remove(&entry.order);
        if list.is_empty() {
            self.0.remove(&entry.index);
        }
    }

    /// Whether there is this entry for this record.
    pub(super) fn has(&self, entry: &Entry, key: &RecordKey) -> bool {
        let list = self.0.get(&entry.index);
        list.and_then(|list| list.get(&entry.order))
            .is_some_and(|(_, listed)| listed == key)
    }

    /// What stands in a list from a place on.
    pub(super) fn from(
        &self,
        index: &Index,
        start: Bound<Order>,
    ) -> impl Iterator<Item = (&Order, &(Partition, RecordKey))> + use<'_> {
        let list = self.0.get(index).into_iter();
        list.flat_map(move |list| list.range((start.clone(), Bound::Unbounded)))
    }

    /// What accounts hold back.
    pub(super) fn blocked(&self) -> impl Iterator<Item = (&Index, &List)> {
        self.0.iter().filter(|(index, _)| matches!(index, Index::Blocked(_)))
    }
}
