//! Executions of a partition that wait or run under a budget.

use ff_backend::query::Rows;
use ff_core::id::{BudgetId, ExecutionId};
use ff_core::partition::Partition;
use rusqlite::Connection;

use super::blocked::{after_score, score_key};
use super::cursor::Cut;
use super::{Found, versioned};
use crate::key::{execution_id, index, uuid_text};

/// Those that wait, best score first.
pub(super) fn queued(connection: &Connection, partition: Partition, budget_id: BudgetId, cut: &Cut) -> Found {
    let (priority, created_at, uuid) = after_score(cut)?;
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_queued_under.sql"))?;
    let params = (budget_id.to_string(), index(partition), priority, created_at, uuid);
    let rows = statement.query_map(params, |row| Ok((score_key(row, partition)?, Some(versioned(row, 3)?))))?;
    let (rows, next) = cut.page(rows)?;
    Ok((Rows::Executions(rows), next))
}

/// Those that run, by id.
pub(super) fn leased(connection: &Connection, partition: Partition, budget_id: BudgetId, cut: &Cut) -> Found {
    let after = cut.after::<ExecutionId>()?.map_or_else(String::new, uuid_text);
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_leased_under.sql"))?;
    let params = (budget_id.to_string(), index(partition), after, cut.limit + 1);
    let rows = statement.query_map(params, |row| {
        let id = execution_id(row.get_ref(0)?.as_str()?, index(partition))?;
        Ok((id, Some(versioned(row, 1)?)))
    })?;
    let (rows, next) = cut.page(rows)?;
    Ok((Rows::Executions(rows), next))
}
