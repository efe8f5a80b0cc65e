//! All records of a partition with what the sets themselves hold for them: executions by age, then everything else by name. What an
//! idempotency key stands for is in no index, and so not here.

use ff_backend::Result;
use ff_backend::codec::cursor::Cut;
use ff_backend::codec::key::name;
use ff_backend::codec::score;
use ff_backend::query::{AuditRow, Range, Rows};
use ff_backend::transaction::Version;
use ff_core::machine::index::{Index, entries};
use ff_core::machine::placement::{QueueKey, Score, queue_key};
use ff_core::partition::{Family, Partition};
use ff_core::record::{Record, RecordKey};
use ff_core::time::Timestamp;
use redis::Value;
use serde::{Deserialize, Serialize};

use super::Found;
use super::merge::Merge;
use super::reader::{Command, Reader};
use super::records::{FIELDS, if_readable, record};
use crate::keys::{INDEX, QueueName, listed, member, prefix};
use crate::record::parse_version;
use crate::reply::{list, moment, optional_text, text, whole_score};

/// Between which names the index has every record once.
const SECTIONS: [(&str, &str); 7] = [
    ("attempt:", "attempt;"),
    ("edges_from:", "edges_from;"),
    ("flows ", "flows!"),
    ("gate:", "gate;"),
    ("journal:", "journal;"),
    ("signal:", "signal;"),
    ("waitpoint:", "waitpoint;"),
];

/// How far the audit has come.
#[derive(Serialize, Deserialize)]
enum Progress {
    /// To this place among the executions.
    Executions(String),
    /// To this member of the index.
    Members(String),
}

/// The next record, and how far one has come with it.
type Next = (Progress, RecordKey);

/// A row, and which writing of the record it is about.
type Row = (AuditRow, Version);

pub(super) async fn audit(reader: &mut Reader<'_>, partition: Partition, cut: &Cut) -> Found {
    let mut rows: Vec<AuditRow> = Vec::new();
    let first = cut.after::<Progress>()?;
    let mut progress = first.unwrap_or_else(|| Progress::Executions(String::new()));
    while partition.family == Family::Flow && rows.len() < cut.limit {
        let wanted = cut.limit - rows.len();
        let mut found = match &progress {
            Progress::Executions(last) => executions(reader, partition, last, wanted).await?,
            Progress::Members(last) => members(reader, partition, last, wanted).await?,
        };
        let keys: Vec<RecordKey> = found.iter().map(|(_, key)| key.clone()).collect();
        progress = match (found.pop(), progress) {
            (Some((last, _)), _) => last,
            (None, Progress::Executions(_)) => Progress::Members(String::new()),
            (None, Progress::Members(_)) => return Ok((Rows::Audit(rows), None)),
        };
        rows.extend(audited(reader, partition, keys).await?);
    }
    let next = (rows.len() == cut.limit).then(|| cut.cursor(&progress));
    Ok((Rows::Audit(rows), next))
}

/// The next executions after a place.
async fn executions(reader: &mut Reader<'_>, partition: Partition, last: &str, wanted: usize) -> Result<Vec<Next>> {
    let range = Range::of(Index::Age(None), vec![partition]);
    let mut merge = Merge::new(reader.shared, &range, Some(last.to_owned()))?;
    let places = merge.next(reader, wanted).await?.into_iter();
    Ok(places
        .map(|place| (Progress::Executions(place.order.as_str().to_owned()), place.key))
        .collect())
}

/// The next records after a member of the index.
async fn members(reader: &mut Reader<'_>, partition: Partition, last: &str, wanted: usize) -> Result<Vec<Next>> {
    let rest = SECTIONS.iter().filter(|(_, end)| *end > last);
    let commands = rest.map(|(begin, end)| {
        let from = if last > *begin {
            format!("({last}")
        } else {
            format!("[{begin}")
        };
        (partition, Command::names(INDEX, from, format!("({end}")).first(wanted))
    });
    let mut found = Vec::new();
    for reply in reader.ask_each(commands.collect()).await? {
        for member in list(reply)?.iter().take(wanted - found.len()) {
            let member = text(member)?;
            found.push((Progress::Members(member.to_owned()), listed(partition, member)?));
        }
    }
    Ok(found)
}

/// The rows of records, of those that exist and can be read.
async fn audited(reader: &mut Reader<'_>, partition: Partition, keys: Vec<RecordKey>) -> Result<Vec<AuditRow>> {
    let kept = |key: &RecordKey| Command::new("AUDIT", name(key)).args([prefix(partition), name(key)]);
    let commands = keys.iter().map(|key| (partition, kept(key)));
    let replies = reader.ask_each(commands.collect()).await?;
    let now = reader.now().unwrap_or_default();
    let mut rows = Vec::new();
    for (key, reply) in keys.iter().zip(replies) {
        rows.extend(if_readable(row(key, list(reply)?, now))?.flatten());
    }
    see_what_is_missing(reader, partition, &mut rows).await?;
    Ok(rows.into_iter().map(|(row, _)| row).collect())
}

/// What is kept of a record, as `AUDIT` tells it, apart from lists.
fn row(key: &RecordKey, mut found: Vec<Value>, now: Timestamp) -> Result<Option<Row>> {
    let mut kept = found.split_off(FIELDS.len().min(found.len())).into_iter();
    let mut next = || kept.next().filter(|value| *value != Value::Nil);
    let Some((record, version)) = record(key, found, now)? else {
        return Ok(None);
    };
    let row = AuditRow {
        due_at: next().map(|due| moment(&due)).transpose()?,
        queue: match (next(), next()) {
            (Some(number), Some(registration)) => queue(&record, whole_score(&number)?, text(&registration)?)?,
            _ => None,
        },
        missing: entries(&record),
        record,
    };
    Ok(Some((row, version)))
}

/// The queue an execution is in. Very many budget sets share one without budgets: then it is the one the execution asks for.
fn queue(record: &Record, number: i64, registration: &str) -> Result<Option<(QueueKey, Score)>> {
    let Record::Execution(execution) = record else {
        return Ok(None);
    };
    let (_, found) = QueueName::registered(registration)?;
    let wanted = queue_key(execution);
    let mut shared = wanted.clone();
    shared.signature.budgets.clear();
    let queue = if found == shared { wanted } else { found };
    Ok(Some((queue, score::score(number, execution.id)?)))
}

/// Leaves in each row only the lists in which its record does not stand. Of one that was written meanwhile nothing is missed: it may
/// have left them.
async fn see_what_is_missing(reader: &mut Reader<'_>, partition: Partition, rows: &mut [Row]) -> Result<()> {
    let questions = rows.iter().map(|(row, _)| {
        let key = row.record.key();
        let members = row.missing.iter().map(|entry| member(entry, &key));
        let stands = members.map(|member| Command::new("ZSCORE", INDEX).arg(member));
        let head = Command::new("HGET", name(&key)).arg("head");
        (partition, std::iter::once(head).chain(stands).collect())
    });
    let answers = reader.ask(questions.collect()).await?;
    for ((row, version), answer) in rows.iter_mut().zip(answers) {
        let found = answer.first().map_or(Ok(None), optional_text)?;
        let is_same = parse_version(found.unwrap_or_default())? == Some(*version);
        let mut stands = answer.iter().skip(1).map(|score| *score != Value::Nil);
        row.missing.retain(|_| !stands.next().unwrap_or(true) && is_same);
    }
    Ok(())
}
