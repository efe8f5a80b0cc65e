//! Executions of partitions that wait or run under a budget.

use ff_backend::codec::cursor::Cut;
use ff_backend::query::Rows;
use ff_core::id::{BudgetId, ExecutionId};
use rusqlite::Connection;

use super::blocked::by_score;
use super::partitions::Partitions;
use super::{Found, versioned};
use crate::error::if_readable;
use crate::key::{execution_id, index, uuid_text};

/// Those that wait, best score first.
pub(super) fn queued(connection: &Connection, partitions: &Partitions, budget_id: BudgetId, cut: &Cut) -> Found {
    by_score(
        connection,
        include_str!("../../sql/list_queued_under.sql"),
        (partitions, &budget_id.to_string()),
        cut,
    )
}

/// Those that run, by id.
pub(super) fn leased(connection: &Connection, partitions: &Partitions, budget_id: BudgetId, cut: &Cut) -> Found {
    let after = cut.after::<ExecutionId>()?;
    let (uuid, partition) = after.map_or((String::new(), 0), |id| (uuid_text(id), index(id.partition())));
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_leased_under.sql"))?;
    let limit = partitions.rows_for(cut);
    let params = (partitions.json(), budget_id.to_string(), uuid, partition, limit);
    let rows = statement.query_map(params, |row| {
        let id = execution_id(row.get_ref(0)?.as_str()?, row.get(1)?)?;
        Ok((id, if_readable(versioned(row, 2))?))
    })?;
    let (rows, next) = cut.page(rows)?;
    Ok((Rows::Executions(rows), next))
}
