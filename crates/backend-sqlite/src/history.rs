//! What happened: the newest lines on the record itself, older ones in chunks, and every line in the feed.

use std::collections::BTreeMap;

use ff_backend::codec::line;
use ff_backend::hint::Hint;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::limits::HISTORY_LINES_MAX;
use ff_core::partition::Partition;
use ff_core::record::{AboutLines, Execution, HistoryLine, HistorySubject};
use rusqlite::OptionalExtension;

use crate::batch::Batch;
use crate::execution::Lines;
use crate::key::{index, subject_text, uuid_text};
use crate::record::to_json;

/// Lines that may stand on a record before they move to a chunk of their own: each writing of the record copies them.
const LINES_ON_RECORD_MAX: u64 = 64;

/// The lines of one transaction, by subject.
pub(crate) type LinesBySubject<'t> = BTreeMap<HistorySubject, Vec<&'t HistoryLine>>;

impl Lines {
    /// The lines of an execution, without what its row says.
    pub(crate) fn of(lines: &[&HistoryLine], execution: &Execution) -> Self {
        let about = AboutLines {
            // It may join a flow later.
            flow_id: None,
            ..AboutLines::execution(execution)
        };
        Self::without(lines, Some(&about))
    }

    fn without(lines: &[&HistoryLine], about: Option<&AboutLines<'_>>) -> Self {
        let mut text = String::new();
        for line in lines {
            text.push_str(&line::write(line, about));
            text.push('\n');
        }
        Self {
            text,
            count: lines.len() as u64,
        }
    }
}

impl Batch<'_> {
    /// Adds every line to the feed and sorts them by subject.
    pub(crate) fn take_history<'t>(
        &mut self,
        partition: Partition,
        history: &'t [HistoryLine],
    ) -> rusqlite::Result<LinesBySubject<'t>> {
        let mut subjects = LinesBySubject::new();
        for line in history {
            self.feed(partition, line)?;
            subjects.entry(line.subject).or_default().push(line);
        }
        Ok(subjects)
    }

    fn feed(&mut self, partition: Partition, line: &HistoryLine) -> rusqlite::Result<()> {
        let millis = self.now.as_millis().max(self.state.feed_millis);
        self.state.feed_millis = millis;
        self.state.feed_row += 1;
        let params = (self.state.feed_row, index(partition), millis, to_json(&*line.event())?);
        self.run(include_str!("../sql/insert_feed.sql"), params)?;
        self.hint(Hint::Feed { partition });
        Ok(())
    }

    /// Adds lines to a subject whose record is not written in the same transaction.
    pub(crate) fn append_history(
        &mut self,
        partition: Partition,
        subject: HistorySubject,
        lines: &[&HistoryLine],
    ) -> rusqlite::Result<()> {
        let (part, lines) = (index(partition), Lines::without(lines, None));
        match subject {
            HistorySubject::Execution(id) => {
                let params = (uuid_text(id), part, &lines.text, lines.count);
                self.run(include_str!("../sql/append_execution_history.sql"), params)
            }
            HistorySubject::Flow(id) => {
                let params = (id.to_string(), part, &lines.text, lines.count);
                self.run(include_str!("../sql/append_flow_history.sql"), params)?;
                self.keep_flow_history_short(partition, id)
            }
        }
    }

    /// Moves the lines of an execution to a chunk of their own once they are many.
    pub(crate) fn keep_history_short(&mut self, id: ExecutionId, first: u64, count: u64) -> rusqlite::Result<()> {
        if count <= LINES_ON_RECORD_MAX {
            return Ok(());
        }
        let (uuid, part) = (uuid_text(id), index(id.partition()));
        let mut statement = self.statement(include_str!("../sql/read_execution_history.sql"))?;
        let lines: String = statement.query_row((&uuid, part), |row| row.get(0))?;
        self.keep_chunk(&subject_text(HistorySubject::Execution(id)), (first, count), &lines)?;
        self.run(include_str!("../sql/clear_execution_history.sql"), (uuid, part))
    }

    fn keep_flow_history_short(&mut self, partition: Partition, id: FlowId) -> rusqlite::Result<()> {
        let key = (id.to_string(), index(partition));
        let mut statement = self.statement(include_str!("../sql/read_flow_history.sql"))?;
        let found = statement.query_row((&key.0, key.1), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        let Some((lines, first, count)): Option<(String, u64, u64)> = found.optional()? else {
            return Ok(());
        };
        if count <= LINES_ON_RECORD_MAX {
            return Ok(());
        }
        self.keep_chunk(&subject_text(HistorySubject::Flow(id)), (first, count), &lines)?;
        self.run(include_str!("../sql/clear_flow_history.sql"), key)
    }

    /// Keeps a chunk and forgets those that hold only lines nobody is shown any more.
    fn keep_chunk(&self, subject: &str, (first, count): (u64, u64), lines: &str) -> rusqlite::Result<()> {
        self.run(include_str!("../sql/insert_history.sql"), (subject, first, lines))?;
        let oldest_shown = (first + count).saturating_sub(HISTORY_LINES_MAX as u64);
        self.run(include_str!("../sql/trim_history.sql"), (subject, oldest_shown))
    }
}
