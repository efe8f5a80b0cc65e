//! Blocked executions of partitions, best score first, and the causes that hold them.

use ff_backend::codec::cause;
use ff_backend::codec::cursor::{Cut, ScoreText};
use ff_backend::query::Rows;
use ff_core::partition::Partition;
use ff_core::record::Cause;
use rusqlite::{Connection, params};

use super::partitions::Partitions;
use super::{Found, versioned};
use crate::error::if_readable;
use crate::key::{index, parse_cause, uuid_text};
use crate::queues::score;

pub(super) fn blocked(connection: &Connection, partitions: &Partitions, by: Cause, cut: &Cut) -> Found {
    by_score(
        connection,
        include_str!("../../sql/list_blocked.sql"),
        (partitions, &cause::text(by)),
        cut,
    )
}

pub(super) fn blocked_causes(connection: &Connection, partitions: &Partitions, cut: &Cut) -> Found {
    let after = cut.after::<(Partition, Cause)>()?;
    let after = after.map_or((0, String::new()), |(partition, by)| {
        (index(partition), cause::text(by))
    });
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_blocked_causes.sql"))?;
    let params = (partitions.json(), after.0, after.1, partitions.rows_for(cut));
    let rows = statement.query_map(params, |row| {
        let held = (Partition::flow(row.get(0)?), parse_cause(row.get_ref(1)?.as_str()?)?);
        Ok((held, Some(held)))
    })?;
    let (rows, next) = cut.page(rows)?;
    Ok((Rows::Causes(rows), next))
}

/// The executions a statement finds under `name`, best score first across the partitions.
pub(super) fn by_score(
    connection: &Connection,
    sql: &str,
    (partitions, name): (&Partitions, &str),
    cut: &Cut,
) -> Found {
    let after = cut.after::<ScoreText>()?;
    let (priority, created_at, uuid, partition) = after.map_or_else(before_all, |ScoreText(score)| {
        let (id, created_at) = (score.id, score.created_at.as_millis());
        (score.priority.0, created_at, uuid_text(id), index(id.partition()))
    });
    let mut statement = connection.prepare_cached(sql)?;
    let namesakes = just_before(&uuid);
    let params = params![
        partitions.json(),
        name,
        priority,
        created_at,
        uuid,
        partition,
        namesakes,
        partitions.rows_for(cut),
    ];
    let rows = statement.query_map(params, |row| {
        Ok((ScoreText(score(row, 0)?), if_readable(versioned(row, 4))?))
    })?;
    let (rows, next) = cut.page(rows)?;
    Ok((Rows::Executions(rows), next))
}

/// The first page starts after a priority that nothing has.
const fn before_all() -> (u16, u64, String, u16) {
    (u16::MAX, 0, String::new(), 0)
}

/// A text between this uuid and whatever uuid comes before it: in the partitions after the cursor's, an execution with the
/// very uuid of the cursor is still to be shown.
fn just_before(uuid: &str) -> String {
    let mut text = uuid.to_owned();
    if let Some(last) = text.pop() {
        text.push(char::from_u32(u32::from(last) - 1).unwrap_or(last));
        text.push('~');
    }
    text
}
