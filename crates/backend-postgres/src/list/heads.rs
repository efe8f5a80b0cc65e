//! Lists that are not empty, by partition and name.

use ff_backend::Result;
use ff_backend::codec::cursor::Cut;
use ff_backend::codec::{key, score};
use ff_backend::query::{Head, HeadsOf, Rows};
use ff_core::machine::index::{Index, Order};
use ff_core::partition::Partition;
use ff_core::time::Timestamp;

use super::{Found, flow_numbers, one_more};
use crate::call::call;
use crate::error::corrupt;
use crate::rows::answered;
use crate::shared::{Shared, number, partition};

/// The place of a list among all: its partition and its name.
type Place = (Partition, String);

/// The store's time and what it found.
type Heads = Result<(Timestamp, Vec<Head>)>;

answered! {
    /// The first entry of a list in one partition.
    EntryHead as "entry_head" { partition: i16, name: String, sort: String, length: i64 }
}

impl Shared {
    pub(super) async fn list_heads(&self, (of, partitions): (HeadsOf, &[Partition]), count: u64, cut: &Cut) -> Found {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let after = cut.after::<Place>()?;
        let mut partitions = flow_numbers(partitions);
        partitions.retain(|own| after.as_ref().is_none_or(|(last, _)| *own >= number(*last)));
        let (now, heads) = match of {
            HeadsOf::Queues => self.heads_of_queues(&partitions, after.as_ref(), count).await?,
            HeadsOf::Blocked => self.heads_of_blocked(&partitions, after.as_ref(), (count, cut)).await?,
        };
        let (heads, next) = cut.first(heads, |head| (head.partition, head.index.to_string()));
        Ok((now, Rows::Heads(heads), next))
    }

    async fn heads_of_queues(&self, partitions: &[i16], after: Option<&Place>, count: i64) -> Heads {
        let mut heads = Vec::new();
        let (now, found) = self.queue_heads(partitions, count).await?;
        for found in found {
            let partition = partition(found.partition);
            let id = key::execution_id(partition, &found.uuid.to_string())?;
            heads.push(Head {
                partition,
                index: Index::Queue(found.name.key()?),
                first: Order::best(&score::score(found.score, id)?),
                length: found.length.cast_unsigned(),
            });
        }
        heads.retain(|head| after.is_none_or(|after| (head.partition, head.index.to_string()) > *after));
        heads.sort_by_cached_key(|head| (head.partition, head.index.to_string()));
        Ok((now, heads))
    }

    async fn heads_of_blocked(&self, partitions: &[i16], after: Option<&Place>, (count, cut): (i64, &Cut)) -> Heads {
        let (after_partition, after_name) = after.map_or((-1, ""), |(last, name)| (number(*last), name.as_str()));
        let (now, answer) = self
            .ask(call!(reading blocked_heads(
            partitions: &partitions, after_partition: &after_partition, after_name: &after_name, count_max: &count,
            at_most: &one_more(cut))))
            .await?;
        let head = |found: EntryHead| {
            let unknown = || corrupt(format!("list {:?} with {:?}", found.name, found.sort));
            let account = found.name.strip_prefix("blocked:").ok_or_else(unknown)?;
            Ok(Head {
                partition: partition(found.partition),
                index: Index::Blocked(account.parse().map_err(corrupt)?),
                first: Order::parse(&found.sort).ok_or_else(unknown)?,
                length: found.length.cast_unsigned(),
            })
        };
        let heads = answer.get::<Vec<EntryHead>>("answer")?.into_iter().map(head);
        Ok((now, heads.collect::<Result<_>>()?))
    }
}
