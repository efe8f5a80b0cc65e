//! Histories, oldest line first: numbered fields of the record they are about.

use ff_backend::codec::cursor::Cut;
use ff_backend::codec::key::{name, subject_key};
use ff_backend::codec::line;
use ff_backend::query::Rows;
use ff_core::limits::HISTORY_LINES_MAX;
use ff_core::partition::Partition;
use ff_core::record::{AboutLines, HistorySubject, Record, RecordKey};
use redis::Value;

use super::Found;
use super::reader::{Command, Reader};
use super::records::{FIELDS, record};
use crate::reply::{list, number, optional_text};

/// Reads until the lines asked for were not trimmed meanwhile; more than a few times nobody is that quick.
const READS_MAX: usize = 4;

/// Lines of a history from a number on.
struct Lines {
    /// What they are about.
    record: Record,
    /// How many were ever told.
    told: u64,
    first: u64,
    found: Vec<Value>,
}

pub(super) async fn history(reader: &mut Reader<'_>, subject: HistorySubject, cut: &Cut) -> Found {
    let mut first = cut.after::<u64>()?.unwrap_or(0).saturating_add(1);
    for _ in 0..READS_MAX {
        let Some(lines) = read(reader, subject, first, cut.limit).await? else {
            break;
        };
        let oldest = (lines.told + 1).saturating_sub(HISTORY_LINES_MAX as u64);
        if first >= oldest {
            return lines.page(cut);
        }
        first = oldest;
    }
    Ok((Rows::History(Vec::new()), None))
}

/// The lines from a number on; `None` when there is no record, and so no history.
async fn read(
    reader: &mut Reader<'_>,
    subject: HistorySubject,
    first: u64,
    limit: usize,
) -> ff_backend::Result<Option<Lines>> {
    let (partition, key) = home_of(reader, subject);
    let numbers = (first..).take(limit).map(|number| format!("h:{number}"));
    let command = Command::new("HMGET", name(&key)).args(FIELDS);
    let command = command.arg("lines").args(numbers);
    let mut fields: Vec<Value> = Vec::new();
    for reply in reader.ask_each(vec![(partition, command)]).await? {
        fields = list(reply)?;
    }
    let mut lines = fields.split_off(FIELDS.len().min(fields.len())).into_iter();
    let Some((record, _)) = record(&key, fields, reader.now().unwrap_or_default())? else {
        return Ok(None);
    };
    let told = lines.next().unwrap_or(Value::Nil);
    Ok(Some(Lines {
        record,
        told: optional_text(&told)?.map_or(Ok(0), |_| number(&told))?,
        first,
        found: lines.collect(),
    }))
}

fn home_of(reader: &Reader<'_>, subject: HistorySubject) -> (Partition, RecordKey) {
    let partition = match subject {
        HistorySubject::Execution(id) => id.partition(),
        HistorySubject::Flow(id) => reader.shared.counts.of_flow(id),
    };
    (partition, subject_key(subject))
}

impl Lines {
    fn page(&self, cut: &Cut) -> Found {
        let about = match &self.record {
            Record::Execution(execution) => AboutLines::execution(execution),
            Record::Flow(flow) => AboutLines::flow(flow),
            _ => return Ok((Rows::History(Vec::new()), None)),
        };
        let mut rows = Vec::new();
        for line in &self.found {
            if let Some(text) = optional_text(line)? {
                rows.push(line::read(text, &about)?);
            }
        }
        let last = self.first.saturating_add(cut.limit as u64) - 1;
        let next = (last < self.told).then(|| cut.cursor(&last));
        Ok((Rows::History(rows), next))
    }
}
