//! Executions: their row, their queue, and how many of a lane are in which state.

use ff_backend::codec::state;
use ff_backend::transaction::Version;
use ff_core::id::ExecutionId;
use ff_core::machine::placement::{Placement, placement};
use ff_core::machine::time::due_at;
use ff_core::record::{Execution, stored};
use ff_core::state::{PublicState, blocking_detail, state_vector};
use ff_core::time::Timestamp;
use rusqlite::params;

use crate::batch::Batch;
use crate::column::{columns, parsed, text, version};
use crate::error::corrupt;
use crate::history::Lines;
use crate::queues::QueueId;
use crate::sql::{self, with};

/// Bytes that a record and its history have room for from the start: those of an execution that was claimed once and ended.
const ROOM_BYTES: i64 = 1_056;

/// The row of an execution before it is replaced.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) row: i64,
    pub(crate) version: Version,
    state: PublicState,
    queue_id: Option<QueueId>,
    history_first: u64,
    history_lines: u64,
}

impl Row {
    /// Reads the first seven columns of a statement that finds an execution.
    pub(crate) fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            row: row.get(0)?,
            version: version(row, 1)?,
            state: state::execution(text(row, 3)?).map_err(corrupt)?,
            queue_id: row.get(4)?,
            history_first: row.get(5)?,
            history_lines: row.get(6)?,
        })
    }
}

impl Batch<'_> {
    /// The row of an execution, if there is one.
    pub(crate) fn find_execution(&self, id: ExecutionId) -> rusqlite::Result<Option<Row>> {
        let (uuid, partition) = columns(id);
        let asked = with!(sql::FIND_EXECUTION, uuid: uuid, partition: partition);
        self.database.find(asked, Row::read)
    }

    /// Writes an execution over `before`, moves it in its queue and its lane, and adds to its history. Answers its row.
    pub(crate) fn put_execution(
        &mut self,
        execution: &Execution,
        version: Version,
        before: Option<&Row>,
        lines: &Lines,
    ) -> rusqlite::Result<i64> {
        let queue_id = self.move_in_queue(execution, before.and_then(|before| before.queue_id))?;
        let (definition, vector) = (&execution.definition, state_vector(execution));
        let (due, body) = (due_at(execution), stored::write(execution).map_err(corrupt)?);
        let (tag, flow_id) = (version.tag.0.cast_signed(), definition.flow.map(|id| id.to_string()));
        let changing = params![
            version.counter,
            tag,
            vector.public_state.as_str(),
            vector.blocking_reason.as_str(),
            blocking_detail(execution),
            execution.priority,
            execution.updated_at.as_millis(),
            flow_id,
            !execution.is_terminal(),
            execution.lease().map(|lease| lease.worker.as_str()),
            execution.lease_epoch,
            due.map(Timestamp::as_millis),
            queue_id,
            lines.text,
            lines.count,
            body,
            room_bytes(execution, body.len() + lines.text.len()),
        ];
        let row = match before {
            Some(Row { row, .. }) => {
                let values = [changing, params![row]].concat();
                self.database.run((sql::UPDATE_EXECUTION, &*values))?;
                *row
            }
            None => {
                let ((uuid, partition), created_at) = (columns(execution.id), definition.created_at.as_millis());
                let (namespace, lane) = (definition.namespace.as_str(), definition.lane.as_str());
                let kind = definition.kind.as_str();
                let fixed = params![uuid, partition, namespace, lane, kind, created_at];
                let values = [changing, fixed].concat();
                self.database.insert((sql::INSERT_EXECUTION, &*values))?
            }
        };
        if before.is_none_or(|before| before.state != vector.public_state) {
            let lane = (definition.namespace.clone(), definition.lane.clone());
            if let Some(before) = before {
                self.count_state(lane.clone(), before.state, -1);
            }
            self.count_state(lane, vector.public_state, 1);
        }
        self.note_due(execution.id.partition(), due);
        self.state.greatest_uuid = self.state.greatest_uuid.max(execution.id.uuid());
        if let Some(before) = before {
            self.keep_history_short(execution.id, before.history_first, before.history_lines + lines.count)?;
        }
        Ok(row)
    }

    /// Enters the queue it belongs in, or leaves the one it was in. Which queue that is never changes while it waits.
    fn move_in_queue(&mut self, execution: &Execution, before: Option<QueueId>) -> rusqlite::Result<Option<QueueId>> {
        let partition = execution.id.partition();
        match (placement(execution), before) {
            (Placement::Eligible { .. }, Some(queue_id)) => Ok(Some(queue_id)),
            (Placement::Eligible { queue, .. }, None) => {
                let (queue_id, opened) = self.queues.enter(&self.database, partition, &queue)?;
                self.hints.eligible(partition, &queue, opened, self.now);
                Ok(Some(queue_id))
            }
            (_, Some(queue_id)) => {
                self.queues.leave(partition, queue_id);
                Ok(None)
            }
            (_, None) => Ok(None),
        }
    }

    /// Deletes an execution's row. What is kept beside it goes by `delete_remains`.
    pub(crate) fn delete_execution(&mut self, id: ExecutionId, before: &Row) -> rusqlite::Result<()> {
        let deleted = with!(sql::DELETE_EXECUTION, row: before.row);
        let lane = |row: &rusqlite::Row<'_>| Ok((parsed(row, 0)?, parsed(row, 1)?));
        if let Some(lane) = self.database.find(deleted, lane)? {
            self.count_state(lane, before.state, -1);
        }
        if let Some(queue_id) = before.queue_id {
            self.queues.leave(id.partition(), queue_id);
        }
        Ok(())
    }
}

/// How much the row may still grow beyond what it has already. One that ended grows no more.
fn room_bytes(execution: &Execution, taken: usize) -> i64 {
    if execution.is_terminal() {
        return 0;
    }
    ROOM_BYTES.saturating_sub_unsigned(taken as u64)
}
