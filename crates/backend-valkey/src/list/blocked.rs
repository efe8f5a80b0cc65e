//! Blocked executions of partitions, best score first, and the causes that hold them.

use ff_backend::Result;
use ff_backend::codec::cause;
use ff_backend::codec::cursor::Cut;
use ff_backend::query::Rows;
use ff_core::machine::placement::{Placement, placement};
use ff_core::partition::Partition;
use ff_core::record::{Cause, Record};

use super::Found;
use super::partitions::{Row, flow_partitions};
use super::reader::{Command, Reader};
use super::walk::{ListPosition, Names, Order, Walk};
use crate::keys::{CAUSES, blocked_by};
use crate::reply::{list, text};
use crate::shared::locked;

pub(super) async fn blocked(reader: &mut Reader<'_>, partitions: &[Partition], cause: Cause, cut: &Cut) -> Found {
    let set = blocked_by(cause);
    let sets = flow_partitions(partitions)
        .into_iter()
        .map(|partition| (partition, set.clone()));
    let after = cut.after::<ListPosition>()?;
    let walk = Walk::new(sets, Order::Ascending, Names::of_records("execution:"), after.as_ref());
    let page = reader.readable_page(cut, walk, |record, version| match record {
        Record::Execution(execution) => match placement(&execution) {
            Placement::Blocked { cause: by, .. } if by == cause => Some((*execution, version)),
            _ => None,
        },
        _ => None,
    });
    let (rows, next) = page.await?;
    Ok((Rows::Executions(rows), next))
}

/// Every sweep asks for these, so partitions that nobody wrote to are not asked again.
pub(super) async fn causes(reader: &mut Reader<'_>, partitions: &[Partition], cut: &Cut) -> Found {
    let after = cut.after::<Row<Cause>>()?;
    let shared = reader.shared;
    let marks = shared.marks(partitions.len()).await;
    let (mut rows, mut changed): (Vec<Row<Cause>>, Vec<Partition>) = (Vec::new(), Vec::new());
    for partition in flow_partitions(partitions) {
        match locked(&shared.causes).unchanged(partition, marks.as_ref()) {
            Some(causes) => rows.extend(causes.into_iter().map(|cause| (partition, cause))),
            None => changed.push(partition),
        }
    }
    let command = |partition: &Partition| (*partition, Command::new("SMEMBERS", CAUSES));
    let replies = reader.ask_each(changed.iter().map(command).collect()).await?;
    for (partition, reply) in changed.into_iter().zip(replies) {
        let causes = list(reply)?;
        let causes = causes.iter().map(|cause| Ok(cause::parse(text(cause)?)?));
        let causes: Vec<Cause> = causes.collect::<Result<_>>()?;
        rows.extend(causes.iter().map(|cause| (partition, *cause)));
        locked(&shared.causes).saw(partition, marks.as_ref(), causes);
    }
    rows.retain(|row| after.is_none_or(|after| *row > after));
    rows.sort_unstable();
    rows.truncate(cut.limit + 1);
    let (rows, next) = cut.first(rows, |row| *row);
    Ok((Rows::Causes(rows), next))
}
