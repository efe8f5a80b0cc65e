//! Histories, oldest line first: chunks of lines, then those that stand on the row of an execution.

use ff_backend::codec::cursor::Cut;
use ff_backend::codec::{key, line};
use ff_backend::query::Rows;
use ff_core::limits::HISTORY_LINES_MAX;
use ff_core::record::HistorySubject;

use super::{Found, about};
use crate::call::call;
use crate::rows::answered;
use crate::shared::{Shared, number};

answered! {
    /// Consecutive lines, one JSON document each.
    Chunk as "chunk" { first: i64, lines: String }
}

impl Shared {
    pub(super) async fn list_history(&self, subject: HistorySubject, cut: &Cut) -> Found {
        let start = cut.after::<i64>()?.map_or(0, |number| number.saturating_add(1));
        let partition = match subject {
            HistorySubject::Execution(id) => id.partition(),
            HistorySubject::Flow(id) => self.counts.of_flow(id),
        };
        let (now, answer) = self
            .ask(call!(reading list_history(
            own_partition: &number(partition), own_key: &key::subject(subject), from_line: &start)))
            .await?;
        let chunks: Vec<Chunk> = answer.get("answer")?;
        let columns = (answer.get("namespace")?, answer.get("lane")?, answer.get("kind")?);
        let about = about(subject, columns, None)?;
        let lines = || chunks.iter().flat_map(|chunk| (chunk.first..).zip(chunk.lines.lines()));
        let end = lines().last().map_or(0, |(number, _)| number + 1);
        let first_shown = start.max(end - i64::try_from(HISTORY_LINES_MAX).unwrap_or(i64::MAX));
        let shown = lines().filter(|(number, _)| *number >= first_shown);
        let read = |text| line::read(text, &about);
        let (rows, next) = cut.page(shown.map(|(number, text)| read(text).map(|line| (number, Some(line)))))?;
        Ok((now, Rows::History(rows), next))
    }
}
