//! Lanes of a namespace with their depths, by name.

use std::collections::BTreeMap;

use ff_backend::Result;
use ff_backend::codec::cursor::Cut;
use ff_backend::codec::key::escaped;
use ff_backend::codec::score::{SPAN_MS, created_at};
use ff_backend::codec::state;
use ff_backend::query::{LaneDepth, Rows};
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::Family;
use ff_core::state::PublicState;
use ff_core::time::Timestamp;

use super::Found;
use super::reader::{Command, Reader};
use crate::error::corrupt;
use crate::keys::{DEPTH, QUEUES, QueueName, lane};
use crate::reply::{list, number, text, whole_score};

/// Executions of each lane by state.
type Depths = BTreeMap<LaneId, BTreeMap<PublicState, u64>>;

pub(super) async fn lanes(reader: &mut Reader<'_>, namespace: &Namespace, cut: &Cut) -> Found {
    let after = cut.after::<LaneId>()?;
    let depths = depths(reader, namespace).await?.into_iter();
    let rest = depths.filter(|(lane, _)| after.as_ref().is_none_or(|after| lane > after));
    let (shown, next) = cut.first(rest.collect(), |(lane, _)| lane.clone());
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
    let all = || Command::new("HGETALL", format!("{DEPTH}{}", escaped(namespace)));
    let mut depths = Depths::new();
    for (_, counted) in reader.ask_all(reader.shared.counts.all(Family::Flow), all).await? {
        for pair in list(counted)?.chunks_exact(2) {
            let (field, count) = (text(&pair[0])?, number::<i64>(&pair[1])?);
            let (lane, state) = field
                .rsplit_once(' ')
                .ok_or_else(|| corrupt(format!("depth of {field:?}")))?;
            let (lane, state) = (LaneId::parse(lane).map_err(corrupt)?, state::execution(state)?);
            if count > 0 {
                *depths.entry(lane).or_default().entry(state).or_default() += count.unsigned_abs();
            }
        }
    }
    Ok(depths)
}

/// When the oldest execution that waits in any queue of each lane was created. Queues are sorted by priority first: what has
/// waited longest is the first of one of the priorities.
async fn oldest_eligible<D>(
    reader: &mut Reader<'_>,
    namespace: &Namespace,
    shown: &[(LaneId, D)],
) -> Result<BTreeMap<LaneId, Timestamp>> {
    let mut oldest = BTreeMap::new();
    let (Some((first, _)), Some((last, _))) = (shown.first(), shown.last()) else {
        return Ok(oldest);
    };
    let (first, last) = (lane(namespace, first), lane(namespace, last));
    let (mut lanes, mut commands) = (Vec::new(), Vec::new());
    let between = || Command::names(QUEUES, format!("[{first} "), format!("({last}!"));
    for (partition, registrations) in reader.ask_all(reader.shared.counts.all(Family::Flow), between).await? {
        for registration in list(registrations)? {
            let (set, queue) = QueueName::registered(text(&registration)?)?;
            lanes.push(queue.lane);
            commands.push((partition, Command::new("FIRSTS", set).arg(SPAN_MS.to_string())));
        }
    }
    for (lane, scores) in lanes.into_iter().zip(reader.ask_each(commands).await?) {
        for score in list(scores)? {
            let created_at = created_at(whole_score(&score)?);
            let first = oldest.entry(lane.clone()).or_insert(created_at);
            *first = created_at.min(*first);
        }
    }
    Ok(oldest)
}
