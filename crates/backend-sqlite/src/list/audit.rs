//! All records of a partition with the index entries that are kept for them: executions by id, then all others by key. Tables are
//! not sorted by partition, so the walk passes over the records of others, a bounded number of them per call.

use ff_backend::codec::cursor::Cut;
use ff_backend::codec::key::record_key;
use ff_backend::codec::record;
use ff_backend::query::{AuditRow, Rows};
use ff_core::machine::placement::{QueueKey, Score, queue_key};
use ff_core::partition::Partition;
use ff_core::record::{Execution, Record};
use rusqlite::Row;

use super::{Found, Reading};
use crate::column::{moment_if_any, score, text};
use crate::entry::missing;
use crate::error::{corrupt, if_readable};
use crate::queues;
use crate::sql::{self, with};

/// How far the walk has come: the key of the last row it passed, and its partition.
type Position = (String, i32);

/// After every uuid.
const NO_EXECUTION: &str = "~";

impl Reading<'_, '_> {
    pub(super) fn list_audit(&self, own: Partition, cut: &Cut) -> Found {
        let (key, partition) = cut.after::<Position>()?.unwrap_or((String::new(), -1));
        let (uuid, key) = match key.strip_prefix("execution:") {
            Some(uuid) => (uuid, ""),
            None if key.is_empty() => ("", ""),
            None => (NO_EXECUTION, &*key),
        };
        let executions = with!(sql::LIST_AUDITED_EXECUTIONS, own: own.index, uuid: uuid, partition: partition);
        let records = with!(sql::LIST_AUDITED_RECORDS,
            own: own.index, now: self.now.as_millis(), key: key, partition: partition);
        let (rows, next) = self.database.rows(executions, |executions| {
            self.database.rows(records, |records| {
                let audited = |row: &Row<'_>| {
                    let position: Position = (row.get(0)?, row.get(1)?);
                    Ok((position, if_readable(self.audit_row(own, row))?.flatten()))
                };
                cut.page(executions.mapped(audited).chain(records.mapped(audited)))
            })
        })?;
        Ok((Rows::Audit(rows), next))
    }

    /// The record of a row; `None`: it is of another partition, or remembered no longer.
    fn audit_row(&self, own: Partition, row: &Row<'_>) -> rusqlite::Result<Option<AuditRow>> {
        let Some(body) = row.get_ref(2)?.as_str_or_null()? else {
            return Ok(None);
        };
        let key = record_key(own, text(row, 0)?).map_err(corrupt)?;
        let record = record::read(&key, body).map_err(corrupt)?;
        let queue = match &record {
            Record::Execution(execution) => queue(execution, row)?,
            _ => None,
        };
        Ok(Some(AuditRow {
            missing: missing(self.database, own, &record)?,
            record,
            queue,
            due_at: moment_if_any(row, 3)?,
        }))
    }
}

/// The queue an execution is in. It may stand in one without budgets that many budget sets share.
fn queue(execution: &Execution, row: &Row<'_>) -> rusqlite::Result<Option<(QueueKey, Score)>> {
    if row.get_ref(8)?.as_str_or_null()?.is_none() {
        return Ok(None);
    }
    let mut queue = queues::queue_key(row, 8)?;
    if queue.signature.budgets.is_empty() {
        queue.signature.budgets = queue_key(execution).signature.budgets;
    }
    Ok(Some((queue, score(row, 4)?)))
}
