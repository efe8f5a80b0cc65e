//! What happened: every line in the feed, the newest lines of an execution on its row, all others in chunks.

use std::collections::BTreeMap;

use ff_backend::codec::{key, line};
use ff_backend::hint::Hint;
use ff_core::id::ExecutionId;
use ff_core::limits::HISTORY_LINES_MAX;
use ff_core::partition::Partition;
use ff_core::record::{AboutLines, Execution, HistoryLine, HistorySubject};

use crate::batch::Batch;
use crate::column::{columns, to_json};
use crate::sql::{self, with};

/// Lines that may stand on a row before others go to another one: each writing of the row copies them.
const LINES_ON_ROW_MAX: u64 = 64;

/// The lines of one transaction, by subject.
pub(crate) type LinesBySubject<'t> = BTreeMap<HistorySubject, Vec<&'t HistoryLine>>;

/// Lines to be added to a history.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pub(crate) text: String,
    pub(crate) count: u64,
}

/// Takes the lines of an execution out of those of a transaction, without what its row says.
pub(crate) fn take_lines(lines: &mut LinesBySubject<'_>, execution: &Execution) -> Lines {
    let about = AboutLines {
        // It may join a flow later.
        flow_id: None,
        ..AboutLines::execution(execution)
    };
    let own = lines.remove(&HistorySubject::Execution(execution.id));
    Lines::without(&own.unwrap_or_default(), Some(&about))
}

impl Lines {
    fn without(lines: &[&HistoryLine], about: Option<&AboutLines<'_>>) -> Self {
        let text = lines.iter().map(|line| line::write(line, about) + "\n");
        Self {
            text: text.collect(),
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
        let line = to_json(&*line.event())?;
        self.database.run(with!(sql::INSERT_FEED,
            row: self.state.feed_row, partition: partition.index, millis: millis, line: line))?;
        self.hint(Hint::Feed { partition });
        Ok(())
    }

    /// Adds lines to a subject that is a flow, or whose record is not written in the same transaction.
    pub(crate) fn append_history(
        &self,
        partition: Partition,
        subject: HistorySubject,
        lines: &[&HistoryLine],
    ) -> rusqlite::Result<()> {
        let lines = Lines::without(lines, None);
        if let HistorySubject::Execution(id) = subject {
            let (uuid, partition) = columns(id);
            self.database.run(with!(sql::APPEND_EXECUTION_HISTORY,
                lines: lines.text, count: lines.count, uuid: uuid, partition: partition))?;
            return Ok(());
        }
        let (key, partition) = (key::subject(subject), partition.index);
        let last = with!(sql::LAST_HISTORY, key: key, partition: partition);
        match self.database.find(last, |row| row.try_into())? {
            Some((first, count)) if count < LINES_ON_ROW_MAX => self.database.run(with!(sql::APPEND_HISTORY,
                    lines: lines.text, count: lines.count, key: key, partition: partition, first: first)),
            last => {
                let first = last.map_or(0, |(first, count): (u64, u64)| first + count);
                self.database.run(with!(sql::INSERT_HISTORY,
                    first: first, count: lines.count, lines: lines.text, key: key, partition: partition))?;
                self.trim_history((&key, partition), first + lines.count)
            }
        }
    }

    /// Moves the lines of an execution to a chunk of their own once they are many.
    pub(crate) fn keep_history_short(&self, id: ExecutionId, first: u64, count: u64) -> rusqlite::Result<()> {
        if count <= LINES_ON_ROW_MAX {
            return Ok(());
        }
        let (uuid, partition) = columns(id);
        let (key, database) = (key::execution(id), &self.database);
        database.run(with!(sql::MOVE_EXECUTION_HISTORY, key: key, uuid: uuid, partition: partition))?;
        database.run(with!(sql::CLEAR_EXECUTION_HISTORY, uuid: uuid, partition: partition))?;
        self.trim_history((&key, partition), first + count)
    }

    /// Forgets chunks that hold only lines nobody is shown any more, once there is one more.
    fn trim_history(&self, (key, partition): (&str, u16), end: u64) -> rusqlite::Result<()> {
        let oldest_shown = end.saturating_sub(HISTORY_LINES_MAX as u64);
        let trim = with!(sql::TRIM_HISTORY, key: key, partition: partition, oldest_shown: oldest_shown);
        self.database.run(trim)
    }
}

#[cfg(test)]
mod tests {
    use ff_backend::Backend;
    use ff_backend::query::{Listing, Page, Query};
    use ff_core::id::FlowId;
    use tempfile::TempDir;
    use uuid::Uuid;

    use super::*;
    use crate::backend::SqliteBackend;
    use crate::list::tests::Template;
    use crate::options::Options;

    const FLOW: FlowId = FlowId::from_uuid(Uuid::nil());

    fn store() -> (TempDir, SqliteBackend, Partition) {
        let directory = tempfile::tempdir().unwrap();
        let options = Options::new(directory.path().join("store.db"));
        let store = SqliteBackend::open(&options).unwrap();
        (directory, store, options.counts.of_flow(FLOW))
    }

    /// Tells lines about the flow, so many at a time, and answers how many chunks there are then.
    async fn tell(store: &SqliteBackend, at: Partition, times: usize, each: usize) -> u64 {
        let told = store.writer.write(move |batch| {
            let line = Template::new().line;
            for time in 0..times {
                let lines: Vec<HistoryLine> = (0..each).map(|n| numbered(&line, time * each + n)).collect();
                batch.append_history(at, HistorySubject::Flow(FLOW), &lines.iter().collect::<Vec<_>>())?;
            }
            let count = "SELECT count(*) FROM history";
            batch.database.connection.query_row(count, [], |row| row.get(0))
        });
        told.await.unwrap()
    }

    fn numbered(line: &HistoryLine, number: usize) -> HistoryLine {
        HistoryLine {
            subject: HistorySubject::Flow(FLOW),
            detail: Some(number.to_string()),
            ..line.clone()
        }
    }

    async fn shown(store: &SqliteBackend) -> Vec<String> {
        let (mut shown, mut after) = (Vec::new(), None);
        loop {
            let of = Listing::History(HistorySubject::Flow(FLOW));
            let page = store.list(Query { of, after, limit: 300 }).await.unwrap();
            after = page.next.clone();
            shown.extend(Page::history(page).into_iter().filter_map(|line| line.detail));
            if after.is_none() {
                return shown;
            }
        }
    }

    #[tokio::test]
    async fn the_last_lines_of_a_flow_are_kept_in_short_chunks() {
        let (_directory, store, at) = store();
        let there = store.writer.write(move |batch| {
            let sql = "INSERT INTO record (key, partition, version, tag, body) VALUES (?1, ?2, 1, 0, '')";
            let key = key::subject(HistorySubject::Flow(FLOW));
            batch.database.connection.execute(sql, (key, at.index))
        });
        assert_eq!(there.await, Ok(1));
        assert_eq!(tell(&store, at, 10, 3).await, 1, "few lines are one chunk");
        assert_eq!(shown(&store).await, (0..30).map(|n| n.to_string()).collect::<Vec<_>>());
        let chunks = tell(&store, at, 3_000, 1).await;
        let most = HISTORY_LINES_MAX as u64 / LINES_ON_ROW_MAX + 2;
        assert!(chunks <= most, "{chunks} chunks, where {most} hold all that is shown");
        let last = (3_000 - HISTORY_LINES_MAX..3_000).map(|n| n.to_string());
        assert_eq!(shown(&store).await, last.collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn lines_about_a_flow_that_is_gone_leave_nothing() {
        let (_directory, store, at) = store();
        assert_eq!(tell(&store, at, 2, 2).await, 0);
        assert_eq!(shown(&store).await, [""; 0]);
    }
}
