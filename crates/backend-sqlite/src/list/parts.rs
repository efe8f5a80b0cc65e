//! What belongs to one execution: attempts by index, waitpoints and signals by id.

use ff_backend::codec::cursor::Cut;
use ff_backend::query::Rows;
use ff_core::id::{ExecutionId, SignalId, WaitpointId};
use ff_core::record::Signal;
use rusqlite::{Connection, Row};

use super::{Found, after_id, versioned};
use crate::key::{index, uuid_text};
use crate::record::from_stored;

pub(super) fn attempts(connection: &Connection, id: ExecutionId, cut: &Cut) -> Found {
    let after = cut.after::<u32>()?.map_or(-1, i64::from);
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_attempts.sql"))?;
    let rows = statement.query_map((uuid_text(id), index(id.partition()), after), |row| {
        let attempt_index: u32 = row.get(0)?;
        Ok((attempt_index, Some(from_stored(row.get_ref(1)?.as_str()?)?)))
    })?;
    let (rows, next) = cut.page(rows)?;
    Ok((Rows::Attempts(rows), next))
}

pub(super) fn waitpoints(connection: &Connection, id: ExecutionId, cut: &Cut) -> Found {
    let after = after_id::<WaitpointId>(cut)?;
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_waitpoints.sql"))?;
    let rows = statement.query_map((uuid_text(id), index(id.partition()), after), |row| {
        let waitpoint_id: String = row.get(0)?;
        Ok((waitpoint_id, Some(versioned(row, 1)?)))
    })?;
    let (rows, next) = cut.page(rows)?;
    Ok((Rows::Waitpoints(rows), next))
}

pub(super) fn signals(connection: &Connection, id: ExecutionId, cut: &Cut) -> Found {
    let after = after_id::<SignalId>(cut)?;
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_signals.sql"))?;
    let rows = statement.query_map((uuid_text(id), index(id.partition()), after), signal)?;
    let (rows, next) = cut.page(rows)?;
    Ok((Rows::Signals(rows), next))
}

pub(super) fn buffered_signals(connection: &Connection, id: ExecutionId, at: WaitpointId, cut: &Cut) -> Found {
    let after = after_id::<SignalId>(cut)?;
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_buffered_signals.sql"))?;
    let params = (uuid_text(id), index(id.partition()), after, at.to_string());
    let (rows, next) = cut.page(statement.query_map(params, signal)?)?;
    Ok((Rows::Signals(rows), next))
}

fn signal(row: &Row<'_>) -> rusqlite::Result<(String, Option<Signal>)> {
    Ok((row.get(0)?, Some(from_stored(row.get_ref(1)?.as_str()?)?)))
}
