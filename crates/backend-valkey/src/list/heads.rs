//! Which lists of a kind partitions have something in, and the first place in each.

use std::collections::BTreeMap;

use ff_backend::Result;
use ff_backend::codec::cursor::Cut;
use ff_backend::query::{Cursor, Head, HeadsOf, Rows};
use ff_core::machine::index::{Index, Order};
use ff_core::partition::Partition;

use super::reader::{Command, Reader};
use super::source::Source;
use super::{Found, flow_partitions};
use crate::error::corrupt;
use crate::keys::{INDEX, QUEUES, QueueName};
use crate::reply::{exactly, list, number, text};
use crate::shared::locked;

/// Partitions whose queues are read at once.
const BATCH: usize = 64;

/// By which heads are sorted: a partition, and the name of a list.
type Row = (Partition, String);

pub(super) async fn heads(
    reader: &mut Reader<'_>,
    (of, partitions): (HeadsOf, &[Partition]),
    count: u64,
    cut: &Cut,
) -> Found {
    let after = cut.after::<Row>()?;
    let (mut heads, next) = match of {
        HeadsOf::Queues => queues(reader, partitions, after, cut).await,
        HeadsOf::Blocked => blocked(reader, partitions, after, cut).await,
    }?;
    heads.iter_mut().for_each(|head| head.length = head.length.min(count));
    Ok((Rows::Heads(heads), next))
}

/// Some heads with all they have, and where to go on.
type FoundHeads = Result<(Vec<Head>, Option<Cursor>)>;

/// Whatever is emptied before its first place is read is left out.
async fn queues(reader: &mut Reader<'_>, partitions: &[Partition], after: Option<Row>, cut: &Cut) -> FoundHeads {
    let first = after.as_ref().map(|(first, _)| *first);
    let rest = flow_partitions(partitions).into_iter();
    let rest: Vec<Partition> = rest.filter(|partition| Some(*partition) >= first).collect();
    let mut found: BTreeMap<Row, (Source, Index)> = BTreeMap::new();
    for asked in rest.chunks(BATCH) {
        if found.len() > cut.limit {
            break;
        }
        let all = || Command::new("ZRANGE", QUEUES).args(["0", "-1"]);
        for (partition, reply) in reader.ask_all(asked.iter().copied(), all).await? {
            for registration in list(reply)? {
                let (set, queue) = QueueName::registered(text(&registration)?)?;
                let index = Index::Queue(queue);
                found.insert((partition, index.to_string()), (Source::Queue(set), index));
            }
        }
        found.retain(|row, _| after.as_ref().is_none_or(|after| row > after));
    }
    let (queues, next) = cut.first(found.into_iter().collect(), |(row, _)| row.clone());
    let first = |((partition, _), (source, _)): &(Row, (Source, Index))| {
        let first = source.command(&Order::default(), 1)?;
        Ok((*partition, vec![first, source.length()]))
    };
    let replies = reader.ask(queues.iter().map(first).collect::<Result<_>>()?).await?;
    let mut rows = Vec::with_capacity(queues.len());
    for (((partition, _), (source, index)), reply) in queues.into_iter().zip(replies) {
        let [first, length] = exactly(reply)?;
        let (place, length) = (source.places(partition, first)?.pop(), number(&length)?);
        rows.extend(place.map(|place| Head {
            partition,
            index,
            first: place.order,
            length,
        }));
    }
    Ok((rows, next))
}

/// Every sweep asks for these, so partitions that nobody wrote to are not asked again.
async fn blocked(reader: &mut Reader<'_>, partitions: &[Partition], after: Option<Row>, cut: &Cut) -> FoundHeads {
    let shared = reader.shared;
    let marks = shared.marks(partitions.len()).await;
    let (mut rows, mut changed) = (Vec::new(), Vec::new());
    for partition in flow_partitions(partitions) {
        match locked(&shared.blocked).unchanged(partition, marks.as_ref()) {
            Some(heads) => rows.extend(heads),
            None => changed.push(partition),
        }
    }
    // ";" comes right after ":".
    let all = || Command::new("HEADS", INDEX).args(["[blocked:", "(blocked;"]);
    for (partition, reply) in reader.ask_all(changed, all).await? {
        let found = list(reply)?;
        let heads = found
            .chunks_exact(2)
            .map(|found| blocked_head(partition, text(&found[0])?, number(&found[1])?));
        let heads: Vec<Head> = heads.collect::<Result<_>>()?;
        rows.extend(heads.iter().cloned());
        locked(&shared.blocked).saw(partition, marks.as_ref(), heads);
    }
    let place = |head: &Head| (head.partition, head.index.to_string());
    rows.retain(|head| after.as_ref().is_none_or(|after| place(head) > *after));
    rows.sort_by_cached_key(place);
    Ok(cut.first(rows, place))
}

/// The head whose entry is `blocked:<cause> <order> <record>`, of so many.
fn blocked_head(partition: Partition, member: &str, length: u64) -> Result<Head> {
    let mut words = member.split(' ');
    let cause = words.next().and_then(|list| list.strip_prefix("blocked:"));
    let order = words.next().and_then(Order::parse);
    let (cause, first) = cause
        .zip(order)
        .ok_or_else(|| corrupt(format!("{member:?} stands in a list")))?;
    Ok(Head {
        partition,
        index: Index::Blocked(cause.parse().map_err(corrupt)?),
        first,
        length,
    })
}
