//! Blocked executions of a partition, best score first, and the causes that hold them.

use ff_backend::query::Rows;
use ff_core::id::ExecutionId;
use ff_core::partition::Partition;
use ff_core::record::Cause;
use ff_core::time::Timestamp;
use rusqlite::{Connection, Row};

use super::cursor::Cut;
use super::{Answer, Found, versioned};
use crate::key::{cause, cause_text, execution_id, index, uuid_text};

/// The place of an execution by score: priority, age, id.
pub(super) type ScoreKey = (u16, Timestamp, ExecutionId);

pub(super) fn blocked(connection: &Connection, partition: Partition, by: Cause, cut: &Cut) -> Found {
    let (priority, created_at, uuid) = after_score(cut)?;
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_blocked.sql"))?;
    let params = (index(partition), cause_text(by), priority, created_at, uuid);
    let rows = statement.query_map(params, |row| Ok((score_key(row, partition)?, Some(versioned(row, 3)?))))?;
    let (rows, next) = cut.page(rows)?;
    Ok((Rows::Executions(rows), next))
}

pub(super) fn blocked_causes(connection: &Connection, partition: Partition, cut: &Cut) -> Found {
    let after = cut.after::<Cause>()?.map_or_else(String::new, cause_text);
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_blocked_causes.sql"))?;
    let rows = statement.query_map((index(partition), after), |row| {
        let cause = cause(row.get_ref(0)?.as_str()?)?;
        Ok((cause, Some(cause)))
    })?;
    let (rows, next) = cut.page(rows)?;
    Ok((Rows::Causes(rows), next))
}

/// The score after which to go on; the first page starts after a priority that nothing has.
pub(super) fn after_score(cut: &Cut) -> Answer<(u16, u64, String)> {
    let after = cut.after::<ScoreKey>()?;
    Ok(after.map_or((u16::MAX, 0, String::new()), |(priority, at, id)| {
        (priority, at.as_millis(), uuid_text(id))
    }))
}

/// The score that stands in the first three columns.
pub(super) fn score_key(row: &Row<'_>, partition: Partition) -> rusqlite::Result<ScoreKey> {
    let id = execution_id(row.get_ref(2)?.as_str()?, index(partition))?;
    Ok((row.get(0)?, Timestamp::from_millis(row.get(1)?), id))
}
