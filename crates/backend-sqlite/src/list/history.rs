//! Histories, oldest line first: chunks of lines, then those that stand on the row of an execution.

use std::borrow::Cow;

use ff_backend::codec::cursor::Cut;
use ff_backend::codec::{key, line};
use ff_backend::query::Rows;
use ff_core::id::ExecutionId;
use ff_core::limits::HISTORY_LINES_MAX;
use ff_core::name::Namespace;
use ff_core::record::{AboutLines, HistorySubject};

use super::{Found, Reading};
use crate::column::{columns, integer, parsed};
use crate::error::corrupt;
use crate::sql::{self, with};

/// Consecutive lines, one JSON document each, after the number of the first one.
type Chunk = (u64, String);

impl Reading<'_, '_> {
    pub(super) fn list_history(&self, subject: HistorySubject, cut: &Cut) -> Found {
        let start = cut.after::<u64>()?.map_or(0, |number| number.saturating_add(1));
        let (partition, on_row) = match subject {
            HistorySubject::Execution(id) => (id.partition(), self.on_row(id)?),
            HistorySubject::Flow(id) => (self.shared.options.counts.of_flow(id), None),
        };
        let chunks = with!(sql::LIST_HISTORY,
            key: key::subject(subject),
            partition: partition.index,
            line: integer(start));
        let mut chunks: Vec<Chunk> = self.database.all(chunks, |row| row.try_into())?;
        let about = match on_row {
            Some((about, newest)) => {
                chunks.push(newest);
                about
            }
            None => nothing_about(subject),
        };
        let lines = || chunks.iter().flat_map(|(first, lines)| (*first..).zip(lines.lines()));
        let end = lines().last().map_or(0, |(number, _)| number + 1);
        let first_shown = start.max(end.saturating_sub(HISTORY_LINES_MAX as u64));
        let shown = lines().filter(|(number, _)| *number >= first_shown);
        let read = |text| line::read(text, &about).map_err(corrupt);
        let (rows, next) = cut.page(shown.map(|(number, text)| read(text).map(|line| (number, Some(line)))))?;
        Ok((Rows::History(rows), next))
    }

    /// The newest lines of an execution, and what they leave out.
    fn on_row(&self, id: ExecutionId) -> rusqlite::Result<Option<(AboutLines<'static>, Chunk)>> {
        let (uuid, partition) = columns(id);
        let asked = with!(sql::READ_EXECUTION_HISTORY, uuid: uuid, partition: partition);
        self.database.find(asked, |row| {
            let about = AboutLines {
                subject: HistorySubject::Execution(id),
                namespace: Cow::Owned(parsed(row, 2)?),
                lane: Some(Cow::Owned(parsed(row, 3)?)),
                flow_id: None,
                kind: Cow::Owned(row.get(4)?),
            };
            Ok((about, row.try_into()?))
        })
    }
}

/// Lines of a flow leave nothing out, so whatever this says is read nowhere.
fn nothing_about(subject: HistorySubject) -> AboutLines<'static> {
    AboutLines {
        subject,
        namespace: Cow::Owned(Namespace::default_namespace()),
        lane: None,
        flow_id: None,
        kind: Cow::Borrowed(""),
    }
}
