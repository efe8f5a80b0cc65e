//! Histories, oldest line first: chunks of older lines, then those that stand on the record.

use std::borrow::Cow;

use ff_backend::codec::cursor::Cut;
use ff_backend::codec::line;
use ff_backend::query::Rows;
use ff_core::limits::HISTORY_LINES_MAX;
use ff_core::record::{AboutLines, HistorySubject};
use rusqlite::{Connection, OptionalExtension, Row};

use super::Found;
use crate::error::corrupt;
use crate::key::{index, subject_text, uuid_text};
use crate::queues::parse;

/// Consecutive lines, one JSON document each.
struct Chunk {
    /// The number of the first one.
    first: u64,
    lines: String,
}

pub(super) fn history(connection: &Connection, subject: HistorySubject, cut: &Cut) -> Found {
    let after = cut.after::<u64>()?;
    let Some((newest, end, about)) = on_record(connection, subject)? else {
        return Ok((Rows::History(Vec::new()), None));
    };
    let oldest_shown = end.saturating_sub(HISTORY_LINES_MAX as u64);
    let start = after.map_or(0, |number| number.saturating_add(1)).max(oldest_shown);
    let mut chunks = older(connection, subject, start)?;
    chunks.push(newest);
    let lines = chunks.iter().flat_map(|chunk| (chunk.first..).zip(chunk.lines.lines()));
    let lines = lines.filter(|(number, _)| *number >= start);
    let read = |text| line::read(text, &about).map_err(corrupt);
    let (rows, next) = cut.page(lines.map(|(number, text)| read(text).map(|line| (number, Some(line)))))?;
    Ok((Rows::History(rows), next))
}

/// The lines on the record, and the number the next line will have. `None`: there is no record.
fn on_record(
    connection: &Connection,
    subject: HistorySubject,
) -> rusqlite::Result<Option<(Chunk, u64, AboutLines<'static>)>> {
    let read = |row: &Row<'_>| {
        let chunk = Chunk {
            lines: row.get(0)?,
            first: row.get(1)?,
        };
        let end = chunk.first + row.get::<_, u64>(2)?;
        let lane = row.get_ref(4)?.as_str_or_null()?;
        let about = AboutLines {
            subject,
            namespace: Cow::Owned(parse(row.get_ref(3)?.as_str()?)?),
            lane: lane.map(parse).transpose()?.map(Cow::Owned),
            flow_id: None,
            kind: Cow::Owned(row.get(5)?),
        };
        Ok((chunk, end, about))
    };
    let found = match subject {
        HistorySubject::Execution(id) => {
            let mut statement = connection.prepare_cached(include_str!("../../sql/read_execution_history.sql"))?;
            statement.query_row((uuid_text(id), index(id.partition())), read)
        }
        HistorySubject::Flow(id) => {
            let mut statement = connection.prepare_cached(include_str!("../../sql/list_flow_history.sql"))?;
            statement.query_row([id.to_string()], read)
        }
    };
    found.optional()
}

/// The chunks from the one that holds line `start` on.
fn older(connection: &Connection, subject: HistorySubject, start: u64) -> rusqlite::Result<Vec<Chunk>> {
    let start = i64::try_from(start).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_history_chunks.sql"))?;
    let rows = statement.query_map((subject_text(subject), start), |row| {
        Ok(Chunk {
            first: row.get(0)?,
            lines: row.get(1)?,
        })
    })?;
    rows.collect()
}
