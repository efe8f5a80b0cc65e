//! Histories, oldest line first: numbered fields of the record they are about.

use ff_backend::codec::cursor::Cut;
use ff_backend::codec::key::{name, subject_key};
use ff_backend::codec::line;
use ff_backend::query::Rows;
use ff_core::limits::HISTORY_LINES_MAX;
use ff_core::record::{AboutLines, HistorySubject, Record};
use redis::Value;

use super::Found;
use super::reader::{Command, Reader};
use super::records::{FIELDS, record};
use crate::reply::{exactly, list, number, optional_text};

pub(super) async fn history(reader: &mut Reader<'_>, subject: HistorySubject, cut: &Cut) -> Found {
    let first = cut.after::<u64>()?.unwrap_or(0).saturating_add(1);
    let key = subject_key(subject);
    let partition = match subject {
        HistorySubject::Execution(id) => id.partition(),
        HistorySubject::Flow(id) => reader.shared.counts.of_flow(id),
    };
    let commands = vec![
        Command::new("HMGET", name(&key)).args(FIELDS),
        Command::new("LINES", name(&key)).args([first.to_string(), cut.limit.to_string()]),
    ];
    let mut answers = reader.ask(vec![(partition, commands)]).await?;
    let [fields, lines] = exactly(answers.pop().unwrap_or_default())?;
    let found = record(&key, list(fields)?, reader.now().unwrap_or_default())?;
    let about = match &found {
        Some((Record::Execution(execution), _)) => AboutLines::execution(execution),
        Some((Record::Flow(flow), _)) => AboutLines::flow(flow),
        _ => return Ok((Rows::History(Vec::new()), None)),
    };
    let mut lines = list(lines)?.into_iter();
    let told: u64 = number(&lines.next().unwrap_or(Value::Nil))?;
    let mut rows = Vec::new();
    for text in lines {
        if let Some(text) = optional_text(&text)? {
            rows.push(line::read(text, &about)?);
        }
    }
    let oldest = (told + 1).saturating_sub(HISTORY_LINES_MAX as u64);
    let last = first.max(oldest).saturating_add(cut.limit as u64) - 1;
    let next = (last < told).then(|| cut.cursor(&last));
    Ok((Rows::History(rows), next))
}
