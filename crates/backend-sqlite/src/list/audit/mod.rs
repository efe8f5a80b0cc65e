//! All records of a partition with the index entries that are kept for them: kind by kind, each in the order of its keys.
//! Tables are not sorted by partition, so the walk passes over the records of others, a bounded number of them per call.

mod entries;

use ff_backend::codec::cursor::{Cut, VISITED_MAX};
use ff_backend::codec::state;
use ff_backend::query::{AuditRow, Rows};
use ff_core::partition::Partition;
use ff_core::record::{Gate, Record};
use ff_core::time::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};

use super::Found;
use crate::error::{corrupt, if_readable};
use crate::key::{execution_id, index};
use crate::queues::parse;
use crate::record::from_stored;

/// The kinds of records, each in a table of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Execution,
    Attempt,
    Waitpoint,
    Signal,
    Step,
    IdempotencyKey,
    Flow,
    Gate,
    Edge,
}

/// How far the walk has come: the key of the last row it passed.
#[derive(Serialize, Deserialize)]
struct AuditPosition {
    kind: Kind,
    owner: String,
    partition: i32,
    part: String,
}

pub(super) fn audit(connection: &Connection, partition: Partition, now: Timestamp, cut: &Cut) -> Found {
    let mut position = cut
        .after::<AuditPosition>()?
        .unwrap_or_else(|| AuditPosition::before(Kind::Execution));
    let (mut page, mut visited) = (Vec::new(), 0);
    let first = position.kind;
    for kind in Kind::ALL.into_iter().skip_while(|kind| *kind < first) {
        if kind != position.kind {
            position = AuditPosition::before(kind);
        }
        let mut statement = connection.prepare_cached(kind.sql())?;
        let start = (
            position.owner.clone(),
            position.part.clone(),
            position.partition,
            index(partition),
        );
        let mut rows = statement.query(start)?;
        while let Some(row) = rows.next()? {
            if page.len() == cut.limit || visited == VISITED_MAX {
                return Ok((Rows::Audit(page), Some(cut.cursor(&position))));
            }
            position = AuditPosition {
                kind,
                owner: row.get(0)?,
                partition: row.get(1)?,
                part: row.get(2)?,
            };
            visited += 1;
            page.extend(if_readable(position.audit_row(connection, row, now))?.flatten());
        }
    }
    Ok((Rows::Audit(page), None))
}

impl Kind {
    const ALL: [Kind; 9] = [
        Kind::Execution,
        Kind::Attempt,
        Kind::Waitpoint,
        Kind::Signal,
        Kind::Step,
        Kind::IdempotencyKey,
        Kind::Flow,
        Kind::Gate,
        Kind::Edge,
    ];

    const fn sql(self) -> &'static str {
        match self {
            Kind::Execution => include_str!("../../../sql/list_audited_executions.sql"),
            Kind::Attempt => include_str!("../../../sql/list_audited_attempts.sql"),
            Kind::Waitpoint => include_str!("../../../sql/list_audited_waitpoints.sql"),
            Kind::Signal => include_str!("../../../sql/list_audited_signals.sql"),
            Kind::Step => include_str!("../../../sql/list_audited_steps.sql"),
            Kind::IdempotencyKey => include_str!("../../../sql/list_audited_keys.sql"),
            Kind::Flow => include_str!("../../../sql/list_audited_flows.sql"),
            Kind::Gate => include_str!("../../../sql/list_audited_gates.sql"),
            Kind::Edge => include_str!("../../../sql/list_audited_edges.sql"),
        }
    }
}

impl AuditPosition {
    /// Before the first record of a kind.
    const fn before(kind: Kind) -> Self {
        Self {
            kind,
            owner: String::new(),
            partition: -1,
            part: String::new(),
        }
    }

    /// The record of a row; `None` when it is of another partition, or remembered no longer.
    fn audit_row(&self, connection: &Connection, row: &Row<'_>, now: Timestamp) -> rusqlite::Result<Option<AuditRow>> {
        let ValueRef::Text(_) = row.get_ref(3)? else {
            return Ok(None);
        };
        let moment: Option<u64> = row.get(4)?;
        let moment = moment.map(Timestamp::from_millis);
        let is_key = self.kind == Kind::IdempotencyKey;
        if is_key && moment.is_some_and(|expires_at| expires_at.has_come(now)) {
            return Ok(None);
        }
        let record = self.record(row.get_ref(3)?.as_str()?)?;
        let placement = match &record {
            Record::Execution(execution) => Some(entries::placement(connection, execution)?),
            _ => None,
        };
        Ok(Some(AuditRow {
            record,
            placement,
            due_at: moment.filter(|_| !is_key),
        }))
    }

    fn record(&self, body: &str) -> rusqlite::Result<Record> {
        Ok(match self.kind {
            Kind::Execution => Record::Execution(Box::new(from_stored(body)?)),
            Kind::Attempt => {
                let partition = u16::try_from(self.partition).unwrap_or_default();
                Record::Attempt(execution_id(&self.owner, partition)?, Box::new(from_stored(body)?))
            }
            Kind::Waitpoint => Record::Waitpoint(Box::new(from_stored(body)?)),
            Kind::Signal => Record::Signal(Box::new(from_stored(body)?)),
            Kind::Step => Record::Step(Box::new(from_stored(body)?)),
            Kind::IdempotencyKey if self.owner.starts_with("signals:") => Record::SignalKey(from_stored(body)?),
            Kind::IdempotencyKey => Record::SubmissionKey(from_stored(body)?),
            Kind::Flow => Record::Flow(Box::new(from_stored(body)?)),
            Kind::Gate => Record::Gate(Gate {
                flow_id: parse(&self.owner)?,
                state: state::gate(body).map_err(corrupt)?,
            }),
            Kind::Edge => Record::Edge(Box::new(from_stored(body)?)),
        })
    }
}
