//! Edges of an execution, by id.

use ff_backend::codec::cursor::Cut;
use ff_backend::query::Rows;
use ff_core::id::{EdgeId, ExecutionId};
use rusqlite::Connection;

use super::{Found, after_id, versioned};

pub(super) fn from(connection: &Connection, upstream: ExecutionId, cut: &Cut) -> Found {
    edges(connection, include_str!("../../sql/list_edges_from.sql"), upstream, cut)
}

pub(super) fn unresolved_from(connection: &Connection, upstream: ExecutionId, cut: &Cut) -> Found {
    edges(
        connection,
        include_str!("../../sql/list_unresolved_edges_from.sql"),
        upstream,
        cut,
    )
}

pub(super) fn into(connection: &Connection, downstream: ExecutionId, cut: &Cut) -> Found {
    edges(
        connection,
        include_str!("../../sql/list_edges_into.sql"),
        downstream,
        cut,
    )
}

fn edges(connection: &Connection, sql: &str, end: ExecutionId, cut: &Cut) -> Found {
    let after = after_id::<EdgeId>(cut)?;
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map((end.to_string(), after), |row| {
        let id: String = row.get(0)?;
        Ok((id, Some(versioned(row, 1)?)))
    })?;
    let (rows, next) = cut.page(rows)?;
    Ok((Rows::Edges(rows), next))
}
