//! Blocked executions of partitions, best score first, and the causes that hold them.

use ff_backend::query::Rows;
use ff_core::machine::placement::{Placement, placement};
use ff_core::partition::Partition;
use ff_core::record::{Cause, Record};

use super::Found;
use super::cursor::Cut;
use super::partitions::{cut_page, flow_partitions};
use super::reader::{Command, Reader};
use super::walk::{Names, Order, Place, Walk};
use crate::keys::{CAUSES, blocked_by, parse_cause};
use crate::reply::{list, text};

pub(super) async fn blocked(reader: &mut Reader<'_>, partitions: &[Partition], cause: Cause, cut: &Cut) -> Found {
    let set = blocked_by(cause);
    let sets = flow_partitions(partitions)
        .into_iter()
        .map(|partition| (partition, set.clone()));
    let after = cut.after::<Place>()?;
    let walk = Walk::new(sets, Order::Ascending, Names::of_records("execution:"), after.as_ref());
    let page = reader.page(cut, walk, |record, version| match record {
        Record::Execution(execution) => match placement(&execution) {
            Placement::Blocked { cause: by, .. } if by == cause => Some((*execution, version)),
            _ => None,
        },
        _ => None,
    });
    let (rows, next) = page.await?;
    Ok((Rows::Executions(rows), next))
}

pub(super) async fn causes(reader: &mut Reader<'_>, partitions: &[Partition], cut: &Cut) -> Found {
    let after = cut.after::<(Partition, Cause)>()?;
    let command = || Command::new("SMEMBERS", CAUSES);
    let rows = reader.rows((partitions, after), cut, command, |reply| {
        list(reply)?.iter().map(|cause| parse_cause(text(cause)?)).collect()
    });
    let (rows, next) = cut_page(rows.await?, cut, |row| *row)?;
    Ok((Rows::Causes(rows), next))
}
