//! What needs attention.

use ff_backend::codec::key::record_key;
use ff_backend::due::{Due, DueItem, DueKey, DuePage};
use ff_backend::hint::Hint;
use ff_core::partition::{Family, Partition};
use ff_core::time::{Timestamp, earliest};
use rusqlite::Row;

use crate::batch::Batch;
use crate::column::{moment, moment_if_any, parsed, text, to_json};
use crate::database::Database;
use crate::error::corrupt;
use crate::sql::{self, Statement};

/// What is due in the partitions asked for, and when the next thing will be.
pub(crate) fn page(database: &Database<'_>, ask: &Due, now: Timestamp) -> rusqlite::Result<DuePage> {
    let (mut found, mut next) = (Vec::new(), Vec::new());
    let mut look = |sources: &[Statement], next_of: Statement, partitions: &str, read: Read| -> rusqlite::Result<()> {
        for source in sources {
            // One more than asked for, so that the caller can tell when there is more.
            let values = (now.as_millis(), partitions, ask.limit + 1);
            found.extend(database.all((*source, values), read)?);
        }
        let at = database.find((next_of, (now.as_millis(), partitions)), |row| moment_if_any(row, 0))?;
        next.push(at.flatten());
        Ok(())
    };
    let (flows, accounts): (Vec<Partition>, _) = ask.partitions.iter().partition(|it| it.family == Family::Flow);
    if !flows.is_empty() {
        let numbers: Vec<u16> = flows.iter().map(|partition| partition.index).collect();
        look(&RECORDS, sql::NEXT_DUE_RECORD, &to_json(&numbers)?, record)?;
    }
    if !accounts.is_empty() {
        let tags = to_json(&accounts)?;
        look(&[sql::DUE_ACCOUNTS], sql::NEXT_DUE_ACCOUNT, &tags, account)?;
    }
    Ok(DuePage::of(now, found, ask.limit, earliest(next)))
}

const RECORDS: [Statement; 3] = [sql::DUE_EXECUTIONS, sql::DUE_RECORDS, sql::DUE_NUDGES];

type Read = fn(&Row<'_>) -> rusqlite::Result<DueItem>;

fn record(row: &Row<'_>) -> rusqlite::Result<DueItem> {
    let partition = Partition::flow(row.get(2)?);
    Ok(DueItem {
        partition,
        key: DueKey::Record(record_key(partition, text(row, 1)?).map_err(corrupt)?),
        due_at: moment(row, 0)?,
    })
}

fn account(row: &Row<'_>) -> rusqlite::Result<DueItem> {
    Ok(DueItem {
        partition: parsed(row, 2)?,
        key: DueKey::Account(parsed(row, 1)?),
        due_at: moment(row, 0)?,
    })
}

impl Batch<'_> {
    /// Sends a hint when something of the partition is due earlier than anything announced before that has not come yet.
    pub(crate) fn note_due(&mut self, partition: Partition, due_at: Option<Timestamp>) {
        let Some(at) = due_at else { return };
        let now = self.now;
        let head = self.state.due_heads.get(&partition).filter(|head| !head.has_come(now));
        if head.is_none_or(|head| at < *head) {
            self.state.due_heads.insert(partition, at);
            self.hint(Hint::Due { partition, at });
        }
    }
}
