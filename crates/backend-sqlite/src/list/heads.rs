//! Lists that are not empty, by partition and name.

use std::collections::BTreeSet;

use ff_backend::codec::cursor::Cut;
use ff_backend::query::{Head, HeadsOf, Rows};
use ff_core::machine::index::{Index, Order};
use ff_core::partition::{Family, Partition};
use rusqlite::Row;

use super::{Found, Reading};
use crate::column::{parse, score, text};
use crate::error::corrupt;
use crate::sql::{self, with};

/// The place of a list among all: its partition and its name.
type Place = (Partition, String);

impl Reading<'_, '_> {
    pub(super) fn list_heads(&self, (of, partitions): (HeadsOf, &[Partition]), count: u64, cut: &Cut) -> Found {
        let after = cut.after::<Place>()?;
        let is_left = |partition: &Partition| {
            partition.family == Family::Flow && after.as_ref().is_none_or(|(last, _)| partition >= last)
        };
        let partitions = partitions.iter().copied().filter(is_left).collect();
        match of {
            HeadsOf::Queues => self.queue_heads(&partitions, after.as_ref(), (count, cut)),
            HeadsOf::Blocked => self.blocked_heads(partitions, after.as_ref(), (count, cut)),
        }
    }

    /// Of the queues that the writer knows to be filled. Whatever was taken since is left out.
    fn queue_heads(&self, partitions: &BTreeSet<Partition>, after: Option<&Place>, (count, cut): (u64, &Cut)) -> Found {
        let filled = self.shared.queues().named(partitions, after, cut.limit + 1);
        let (shown, next) = cut.first(Vec::from_iter(filled), |(place, _)| place.clone());
        let mut heads = Vec::new();
        for ((partition, _), (queue, queue_id, length)) in shown {
            let head = with!(sql::LIST_QUEUE_HEAD, queue_id: queue_id, partition: partition.index);
            let first = self.database.find(head, |row| score(row, 0))?;
            heads.extend(first.map(|score| Head {
                partition,
                index: Index::Queue(queue),
                first: Order::best(&score),
                length: length.min(count),
            }));
        }
        Ok((Rows::Heads(heads), next))
    }

    fn blocked_heads(
        &self,
        partitions: BTreeSet<Partition>,
        after: Option<&Place>,
        (count, cut): (u64, &Cut),
    ) -> Found {
        let mut heads = Vec::new();
        for partition in partitions {
            let after = after.filter(|(last, _)| *last == partition);
            let mut last = after.map(|(_, name)| name.clone()).unwrap_or_default();
            while heads.len() <= cut.limit {
                let next = with!(sql::LIST_NEXT_BLOCKED, partition: partition.index, name: last);
                let read = |row: &Row<'_>| Ok((row.get(0)?, blocked(partition, row)?));
                let Some((name, head)) = self.database.find(next, read)? else {
                    break;
                };
                heads.push(head);
                last = name;
            }
        }
        let (mut shown, next) = cut.first(heads, |head| (head.partition, head.index.to_string()));
        for head in shown.iter_mut().filter(|_| count > 0) {
            let counted = with!(sql::LIST_BLOCKED_LENGTH,
                partition: head.partition.index, name: head.index.to_string(), count: count);
            head.length = self.database.find(counted, |row| row.get(0))?.unwrap_or_default();
        }
        Ok((Rows::Heads(shown), next))
    }
}

fn blocked(partition: Partition, row: &Row<'_>) -> rusqlite::Result<Head> {
    let (name, first) = (text(row, 0)?, text(row, 1)?);
    let unknown = || corrupt(format_args!("list {name:?} with {first:?}"));
    let account = name.strip_prefix("blocked:").ok_or_else(unknown)?;
    Ok(Head {
        partition,
        index: Index::Blocked(parse(account)?),
        first: Order::parse(first).ok_or_else(unknown)?,
        length: 0,
    })
}
