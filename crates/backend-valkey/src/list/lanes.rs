//! Lanes of a namespace with their depths, by name.

use std::collections::BTreeMap;

use ff_backend::Result;
use ff_backend::codec::cursor::Cut;
use ff_backend::codec::key::escaped;
use ff_backend::codec::state;
use ff_backend::query::{LaneDepth, Rows};
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::{Family, Partition};
use ff_core::state::PublicState;
use ff_core::time::Timestamp;
use redis::Value;

use super::Found;
use super::reader::{Command, Reader};
use crate::error::corrupt;
use crate::keys::{DEPTH, QUEUES, QueueName, lane, parse_lane};
use crate::record::{created_at, next_priority};
use crate::reply::{list, number, text, values, whole_score};

/// Fields of a hash that one command looks at: most of them are of other namespaces.
const SCANNED: &str = "1000";
/// Priorities that are looked into to find what waits longest; more than this in one queue are not expected.
const PRIORITIES_MAX: usize = 64;

/// Executions of each lane by state.
type Depths = BTreeMap<LaneId, BTreeMap<PublicState, u64>>;

pub(super) async fn lanes(reader: &mut Reader<'_>, namespace: &Namespace, cut: &Cut) -> Found {
    let after = cut.after::<LaneId>()?;
    let depths = depths(reader, namespace).await?;
    let rest = depths
        .into_iter()
        .filter(|(lane, _)| after.as_ref().is_none_or(|after| lane > after));
    let (shown, next) = cut.first(rest.take(cut.limit + 1).collect(), |(lane, _)| lane.clone());
    let mut oldest = oldest_eligible(reader, namespace, &shown).await?;
    let rows = shown.into_iter().map(|(lane, depth)| LaneDepth {
        oldest_eligible: oldest.remove(&lane),
        lane,
        depth,
    });
    Ok((Rows::Lanes(rows.collect()), next))
}

/// The lanes that have executions, with how many are in which state.
async fn depths(reader: &mut Reader<'_>, namespace: &Namespace) -> Result<Depths> {
    let mut depths = Depths::new();
    for (field, count) in counted(reader, namespace).await?.into_values().flatten() {
        let unknown = || corrupt(format!("depth of {field:?}"));
        let (lane, state) = field.rsplit_once(' ').ok_or_else(unknown)?;
        let (of, lane) = parse_lane(lane)?;
        let state = state::execution(state)?;
        if of == *namespace && count > 0 {
            *depths.entry(lane).or_default().entry(state).or_default() += count.unsigned_abs();
        }
    }
    Ok(depths)
}

/// The fields of every partition that count executions of the namespace. A scan may show a field twice.
async fn counted(reader: &mut Reader<'_>, namespace: &Namespace) -> Result<BTreeMap<Partition, BTreeMap<String, i64>>> {
    let pattern = format!("{}/*", glob(&escaped(namespace)));
    let partitions = reader.shared.counts.all(Family::Flow);
    let mut rest: Vec<(Partition, String)> = partitions.map(|partition| (partition, "0".to_owned())).collect();
    let mut counted: BTreeMap<Partition, BTreeMap<String, i64>> = BTreeMap::new();
    while !rest.is_empty() {
        let scan = |cursor: &String| {
            Command::new("HSCAN", DEPTH)
                .arg(cursor)
                .args(["MATCH", &pattern, "COUNT", SCANNED])
        };
        let commands = rest.iter().map(|(partition, cursor)| (*partition, scan(cursor)));
        let replies = reader.ask_each(commands.collect()).await?;
        for ((partition, cursor), reply) in rest.iter_mut().zip(replies) {
            let [next, fields] = values(reply)?;
            *cursor = text(&next)?.to_owned();
            let counts = counted.entry(*partition).or_default();
            for pair in list(fields)?.chunks_exact(2) {
                counts.insert(text(&pair[0])?.to_owned(), number(&pair[1])?);
            }
        }
        rest.retain(|(_, cursor)| cursor != "0");
    }
    Ok(counted)
}

/// A pattern that only this text matches.
fn glob(text: &str) -> String {
    let mut pattern = String::new();
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '\\' | '^') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// A queue of a lane, and the least score in it that was not looked at yet.
struct Queue {
    partition: Partition,
    set: String,
    lane: LaneId,
    from: i64,
}

/// When the oldest execution that waits in any queue of each lane was created. Queues are sorted by priority first: what has
/// waited longest is the first of one of the priorities.
async fn oldest_eligible<D>(
    reader: &mut Reader<'_>,
    namespace: &Namespace,
    shown: &[(LaneId, D)],
) -> Result<BTreeMap<LaneId, Timestamp>> {
    let mut queues = queues(reader, namespace, shown).await?;
    let mut oldest: BTreeMap<LaneId, Timestamp> = BTreeMap::new();
    for _ in 0..PRIORITIES_MAX {
        let first = |queue: &Queue| {
            let range = Command::new("ZRANGE", &*queue.set)
                .arg(queue.from.to_string())
                .args(["+inf", "BYSCORE"]);
            range.args(["LIMIT", "0", "1", "WITHSCORES"])
        };
        let commands = queues.iter().map(|queue| (queue.partition, first(queue)));
        let replies = reader.ask_each(commands.collect()).await?;
        let mut rest = Vec::new();
        for (mut queue, reply) in queues.into_iter().zip(replies) {
            let found: Vec<Value> = list(reply)?;
            let [_, score] = found.as_slice() else { continue };
            let score = whole_score(score)?;
            let created_at = created_at(score);
            let first = oldest.entry(queue.lane.clone()).or_insert(created_at);
            *first = created_at.min(*first);
            queue.from = next_priority(score);
            rest.push(queue);
        }
        if rest.is_empty() {
            break;
        }
        queues = rest;
    }
    Ok(oldest)
}

/// The queues of the shown lanes that are not empty, in every partition.
async fn queues<D>(reader: &mut Reader<'_>, namespace: &Namespace, shown: &[(LaneId, D)]) -> Result<Vec<Queue>> {
    let (Some((first, _)), Some((last, _))) = (shown.first(), shown.last()) else {
        return Ok(Vec::new());
    };
    let ends = [
        format!("[{} ", lane(namespace, first)),
        format!("({}!", lane(namespace, last)),
    ];
    let partitions: Vec<Partition> = reader.shared.counts.all(Family::Flow).collect();
    let between = || Command::new("ZRANGE", QUEUES).args(&ends).arg("BYLEX");
    let commands = partitions.iter().map(|partition| (*partition, between()));
    let replies = reader.ask_each(commands.collect()).await?;
    let mut queues = Vec::new();
    for (partition, reply) in partitions.into_iter().zip(replies) {
        for registration in list(reply)? {
            let (set, queue) = QueueName::registered(text(&registration)?)?;
            queues.push(Queue {
                partition,
                set,
                lane: queue.lane,
                from: i64::MIN,
            });
        }
    }
    Ok(queues)
}
