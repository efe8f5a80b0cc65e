//! Executions: their row, and their place in every index.

use ff_backend::codec::{cause, state};
use ff_backend::transaction::Version;
use ff_core::id::ExecutionId;
use ff_core::machine::placement::{Placement, placement};
use ff_core::record::{Execution, Phase, Record};
use ff_core::state::{PublicState, blocking_detail, state_vector};
use ff_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use crate::batch::Batch;
use crate::error::corrupt;
use crate::key::{index, uuid_text};
use crate::queues::QueueId;
use crate::record::{from_json, from_stored, to_json, to_stored, version};

/// Bytes that a record and its history have room for from the start: those of an execution that was claimed once and ended.
const ROOM_BYTES: i64 = 1_056;

/// The row of an execution before it is replaced.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) row: i64,
    pub(crate) version: Version,
    state: PublicState,
    priority: u16,
    flow_id: Option<String>,
    queue_id: Option<QueueId>,
    tags: String,
    history_first: u64,
    history_lines: u64,
}

/// Lines to be added to a history.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pub(crate) text: String,
    pub(crate) count: u64,
}

/// An execution as it stands.
pub(crate) fn load(connection: &Connection, id: ExecutionId) -> rusqlite::Result<Option<(Record, Version)>> {
    let mut statement = connection.prepare_cached(include_str!("../sql/load_execution.sql"))?;
    let mut rows = statement.query((uuid_text(id), index(id.partition())))?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let execution = from_stored(row.get_ref(0)?.as_str()?)?;
    Ok(Some((Record::Execution(Box::new(execution)), version(row, 1)?)))
}

impl Batch<'_> {
    /// The row of an execution, if there is one.
    pub(crate) fn find_execution(&self, id: ExecutionId) -> rusqlite::Result<Option<Row>> {
        let mut statement = self.statement(include_str!("../sql/find_execution.sql"))?;
        let found = statement.query_row((uuid_text(id), index(id.partition())), Row::read);
        found.optional()
    }

    /// Writes an execution over `before`, with every index entry, and adds to its history. Answers its row.
    pub(crate) fn write_execution(
        &mut self,
        execution: &Execution,
        version: Version,
        before: Option<&Row>,
        lines: &Lines,
    ) -> rusqlite::Result<i64> {
        let place = placement(execution);
        let queue_id = self.move_in_queue(execution, &place, before.and_then(|before| before.queue_id))?;
        let due = ff_core::machine::time::due_at(execution);
        let derived = Derived {
            queue_id,
            cause: match &place {
                Placement::Blocked { cause, .. } => Some(cause::text(*cause)),
                _ => None,
            },
            due,
            tags: tags_text(execution)?,
            body: to_stored(execution)?,
        };
        let row = match before {
            None => self.insert(execution, version, &derived, lines)?,
            Some(before) => self.update(execution, version, (before, &derived), lines)?,
        };
        self.list_tags(execution, before.map(|before| before.tags.as_str()), &derived.tags)?;
        self.list_under_budgets(execution, &place, before)?;
        self.count_in_lane(execution, before);
        self.note_due(execution.id.partition(), due);
        if let Some(before) = before {
            self.keep_history_short(execution.id, before.history_first, before.history_lines + lines.count)?;
        }
        Ok(row)
    }

    /// Enters the queue it belongs in, or leaves the one it was in. Which queue that is never changes while it waits.
    fn move_in_queue(
        &mut self,
        execution: &Execution,
        place: &Placement,
        before: Option<QueueId>,
    ) -> rusqlite::Result<Option<QueueId>> {
        let partition = execution.id.partition();
        match (place, before) {
            (Placement::Eligible { .. }, Some(queue_id)) => Ok(Some(queue_id)),
            (Placement::Eligible { queue, .. }, None) => {
                let (queue_id, opened) = self.queues.enter(self.connection, partition, queue)?;
                self.hints.eligible(partition, queue, opened, self.now);
                Ok(Some(queue_id))
            }
            (_, Some(queue_id)) => {
                self.queues.leave(partition, queue_id);
                Ok(None)
            }
            (_, None) => Ok(None),
        }
    }

    fn insert(
        &mut self,
        execution: &Execution,
        version: Version,
        derived: &Derived,
        lines: &Lines,
    ) -> rusqlite::Result<i64> {
        let definition = &execution.definition;
        let vector = state_vector(execution);
        self.state.greatest_uuid = self.state.greatest_uuid.max(execution.id.uuid());
        self.statement(include_str!("../sql/insert_execution.sql"))?
            .insert(params![
                uuid_text(execution.id),
                index(execution.id.partition()),
                version.counter,
                version.tag.0.cast_signed(),
                definition.namespace.as_str(),
                definition.lane.as_str(),
                definition.kind.as_str(),
                vector.public_state.as_str(),
                vector.blocking_reason.as_str(),
                blocking_detail(execution),
                execution.priority,
                definition.created_at.as_millis(),
                execution.updated_at.as_millis(),
                definition.flow.map(|flow| flow.to_string()),
                !execution.is_terminal(),
                worker(execution),
                execution.lease_epoch,
                derived.due.map(Timestamp::as_millis),
                derived.queue_id,
                derived.cause,
                derived.tags,
                lines.text,
                lines.count,
                derived.body,
                derived.room_bytes(execution, lines),
            ])
    }

    fn update(
        &self,
        execution: &Execution,
        version: Version,
        (before, derived): (&Row, &Derived),
        lines: &Lines,
    ) -> rusqlite::Result<i64> {
        let vector = state_vector(execution);
        self.statement(include_str!("../sql/update_execution.sql"))?
            .execute(params![
                before.row,
                version.counter,
                version.tag.0.cast_signed(),
                vector.public_state.as_str(),
                vector.blocking_reason.as_str(),
                blocking_detail(execution),
                execution.priority,
                execution.updated_at.as_millis(),
                !execution.is_terminal(),
                worker(execution),
                execution.lease_epoch,
                derived.due.map(Timestamp::as_millis),
                derived.queue_id,
                derived.cause,
                derived.tags,
                lines.text,
                lines.count,
                derived.body,
                derived.room_bytes(execution, lines),
            ])?;
        let flow_id = execution.definition.flow.map(|flow| flow.to_string());
        if flow_id != before.flow_id {
            self.run(include_str!("../sql/set_execution_flow.sql"), (before.row, flow_id))?;
        }
        Ok(before.row)
    }

    fn list_tags(&self, execution: &Execution, before: Option<&str>, after: &str) -> rusqlite::Result<()> {
        if before.unwrap_or("{}") == after {
            return Ok(());
        }
        let created_at = execution.definition.created_at.as_millis();
        let (uuid, part) = (uuid_text(execution.id), index(execution.id.partition()));
        let old: ff_core::record::Tags = before.map(from_json).transpose()?.unwrap_or_default();
        for (key, value) in &old {
            self.run(
                include_str!("../sql/delete_tag.sql"),
                (key, value, created_at, &uuid, part),
            )?;
        }
        for (key, value) in &*execution.tags {
            self.run(
                include_str!("../sql/insert_tag.sql"),
                (key, value, created_at, &uuid, part),
            )?;
        }
        Ok(())
    }

    fn list_under_budgets(
        &self,
        execution: &Execution,
        place: &Placement,
        before: Option<&Row>,
    ) -> rusqlite::Result<()> {
        let budgets = &execution.definition.policy.budget_ids;
        if budgets.is_empty() {
            return Ok(());
        }
        let created_at = execution.definition.created_at.as_millis();
        let (uuid, part) = (uuid_text(execution.id), index(execution.id.partition()));
        let old = before.and_then(|before| Some((before.place()?, before.priority)));
        let new = match place {
            Placement::Eligible { .. } => Some(("queued", execution.priority)),
            Placement::Leased { .. } => Some(("leased", execution.priority)),
            Placement::Blocked { .. } | Placement::Nowhere => None,
        };
        if old == new {
            return Ok(());
        }
        for budget_id in budgets {
            let budget = budget_id.to_string();
            if let Some((place, priority)) = old {
                let entry = (&budget, part, place, priority, created_at, &uuid);
                self.run(include_str!("../sql/delete_under_budget.sql"), entry)?;
            }
            if let Some((place, priority)) = new {
                let entry = (&budget, part, place, priority, created_at, &uuid);
                self.run(include_str!("../sql/insert_under_budget.sql"), entry)?;
            }
        }
        Ok(())
    }

    fn count_in_lane(&mut self, execution: &Execution, before: Option<&Row>) {
        let definition = &execution.definition;
        let state = ff_core::state::public_state(execution);
        if let Some(before) = before {
            if before.state == state {
                return;
            }
            self.count_state(&definition.namespace, &definition.lane, before.state, -1);
        }
        self.count_state(&definition.namespace, &definition.lane, state, 1);
    }

    /// Deletes an execution's row with every index entry. What is kept beside it goes by `delete_remains`.
    pub(crate) fn delete_execution(&mut self, id: ExecutionId, before: &Row) -> rusqlite::Result<()> {
        let Some((Record::Execution(execution), _)) = load(self.connection, id)? else {
            return Ok(());
        };
        if let Some(queue_id) = before.queue_id {
            self.queues.leave(id.partition(), queue_id);
        }
        self.list_tags(&without_tags(&execution), Some(&before.tags), "{}")?;
        self.list_under_budgets(&execution, &Placement::Nowhere, Some(before))?;
        let definition = &execution.definition;
        self.count_state(&definition.namespace, &definition.lane, before.state, -1);
        self.run(include_str!("../sql/delete_execution.sql"), [before.row])
    }
}

/// What is written beside an execution's own values.
struct Derived {
    queue_id: Option<QueueId>,
    cause: Option<String>,
    due: Option<Timestamp>,
    tags: String,
    body: String,
}

impl Derived {
    /// How much the row may still grow, besides the lines it has already. One that ended grows no more.
    fn room_bytes(&self, execution: &Execution, lines: &Lines) -> i64 {
        if execution.is_terminal() {
            return 0;
        }
        let taken = self.body.len() + lines.text.len();
        ROOM_BYTES.saturating_sub_unsigned(taken as u64)
    }
}

impl Row {
    /// Reads the first ten columns of a statement that finds an execution.
    pub(crate) fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            row: row.get(0)?,
            version: version(row, 1)?,
            state: state::execution(row.get_ref(3)?.as_str()?).map_err(corrupt)?,
            priority: row.get(4)?,
            flow_id: row.get(5)?,
            queue_id: row.get(6)?,
            tags: row.get(7)?,
            history_first: row.get(8)?,
            history_lines: row.get(9)?,
        })
    }

    /// Where it stands under its budgets.
    fn place(&self) -> Option<&'static str> {
        if self.queue_id.is_some() {
            return Some("queued");
        }
        (self.state == PublicState::Active).then_some("leased")
    }
}

/// Most executions have none.
fn tags_text(execution: &Execution) -> rusqlite::Result<String> {
    if execution.tags.is_empty() {
        return Ok("{}".to_owned());
    }
    to_json(&execution.tags)
}

fn worker(execution: &Execution) -> Option<&str> {
    match &execution.phase {
        Phase::Active(lease) => Some(lease.worker.as_str()),
        _ => None,
    }
}

fn without_tags(execution: &Execution) -> Execution {
    Execution {
        tags: Default::default(),
        ..execution.clone()
    }
}
