//! Records of lists, and which lists there are.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use ff_core::machine::index::{Index, Order};
use ff_core::partition::Partition;
use ff_core::record::{Record, RecordKey};

use super::super::store::Store;
use super::{Cut, Found};
use crate::Error;
use crate::query::{Head, HeadsOf, Range, Rows};
use crate::transaction::Version;

impl Store {
    pub(super) fn list_range(&self, range: &Range, cut: &Cut) -> Found {
        let after = cut
            .after::<String>()?
            .map(|text| Order::parse(&text).ok_or(Error::InvalidCursor));
        let start = match (after.transpose()?, &range.from) {
            (Some(after), _) => Bound::Excluded(after),
            (None, Some(from)) => Bound::Included(from.clone()),
            (None, None) => Bound::Unbounded,
        };
        let partitions: BTreeSet<Partition> = range.partitions.iter().copied().collect();
        let mut found: BTreeMap<Order, (Record, Version)> = BTreeMap::new();
        for index in &range.of {
            let wanted = self
                .places(index, &start)
                .take_while(|(order, _)| range.reaches(order))
                .filter(|(_, (partition, _))| partitions.contains(partition));
            // Entries of records that are gone count for nothing: they must not end a page.
            let rows = wanted.filter_map(|(order, (partition, key))| Some((order, self.record_row(partition, &key)?)));
            found.extend(rows.take(cut.reach()));
        }
        let rows = found.into_iter();
        let (rows, next) = cut.page(rows.map(|(order, row)| (order.as_str().to_owned(), Some(row))))?;
        Ok((Rows::Records(rows), next))
    }

    pub(super) fn list_heads(&self, (of, partitions): (HeadsOf, &[Partition]), count: u64, cut: &Cut) -> Found {
        let after = cut.after::<(Partition, String)>()?;
        let partitions: BTreeSet<Partition> = partitions.iter().copied().collect();
        let mut heads = BTreeMap::new();
        for head in self.heads(of).filter(|head| partitions.contains(&head.partition)) {
            let place = (head.partition, head.index.to_string());
            if after.as_ref().is_none_or(|after| place > *after) {
                // Of a list the first comes first.
                let found = heads.entry(place).or_insert(Head {
                    length: 0,
                    ..head.clone()
                });
                found.length = (found.length + head.length).min(count);
            }
        }
        let (rows, next) = cut.page(heads.into_iter().map(|(place, head)| (place, Some(head))))?;
        Ok((Rows::Heads(rows), next))
    }

    /// The first of every queue, and every entry of what is blocked.
    fn heads(&self, of: HeadsOf) -> Box<dyn Iterator<Item = Head> + '_> {
        let head = |partition, index: &Index, first: &Order| Head {
            partition,
            index: index.clone(),
            first: first.clone(),
            length: 1,
        };
        match of {
            HeadsOf::Queues => Box::new(self.queues.heads().map(|(partition, queue, (score, length))| Head {
                partition,
                index: Index::Queue(queue.clone()),
                first: Order::best(score),
                length,
            })),
            HeadsOf::Blocked => Box::new(self.lists.blocked().flat_map(move |(index, list)| {
                let rows = list.iter();
                rows.map(move |(order, (partition, _))| head(*partition, index, order))
            })),
        }
    }

    /// What stands in a list from a place on.
    fn places<'s>(
        &'s self,
        index: &'s Index,
        start: &Bound<Order>,
    ) -> Box<dyn Iterator<Item = (Order, (Partition, RecordKey))> + 's> {
        let Index::Queue(queue) = index else {
            let places = self.lists.from(index, start.clone());
            return Box::new(places.map(|(order, place)| (order.clone(), place.clone())));
        };
        let start = start.clone();
        let scores = self.queues.scores(queue);
        let places = scores.map(|score| {
            let place = (score.id.partition(), RecordKey::Execution(score.id));
            (Order::best(score), place)
        });
        Box::new(places.filter(move |(order, _)| match &start {
            Bound::Included(from) => order >= from,
            Bound::Excluded(after) => order > after,
            Bound::Unbounded => true,
        }))
    }

    fn record_row(&self, partition: Partition, key: &RecordKey) -> Option<(Record, Version)> {
        let stored = self.stored(partition, key)?;
        Some((stored.record.clone(), stored.version))
    }
}
