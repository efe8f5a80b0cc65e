//! Records other than executions: how each kind is found, written and deleted.

use ff_backend::codec::key::name;
use ff_backend::codec::{record, state};
use ff_backend::load::LoadSteps;
use ff_backend::transaction::{Tag, Version};
use ff_core::id::ExecutionId;
use ff_core::machine::placement::due_at;
use ff_core::partition::Partition;
use ff_core::record::stored::{self, Stored};
use ff_core::record::{Edge, EdgeState, Flow, Gate, Record, RecordKey, Step};
use ff_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::batch::Batch;
use crate::error::corrupt;
use crate::execution;
use crate::key::{index, scope_text, uuid_text};

/// A record as it stands, if it does.
pub(crate) fn load(
    connection: &Connection,
    partition: Partition,
    key: &RecordKey,
    now: Timestamp,
) -> rusqlite::Result<Option<(Record, Version)>> {
    if let RecordKey::Execution(id) = key {
        return execution::load(connection, *id);
    }
    let Some((body, version)) = find(connection, partition, key, now)? else {
        return Ok(None);
    };
    let record = match key {
        RecordKey::Gate(flow_id) => Record::Gate(Gate {
            flow_id: *flow_id,
            state: state::gate(&body).map_err(corrupt)?,
        }),
        key => record::read(key, &body).map_err(corrupt)?,
    };
    Ok(Some((record, version)))
}

type Found = Option<(String, Version)>;

/// The body and version of a record that is not an execution.
fn find(connection: &Connection, partition: Partition, key: &RecordKey, now: Timestamp) -> rusqlite::Result<Found> {
    let part = index(partition);
    let find_key = |scope: String, key: &str| {
        let sql = include_str!("../sql/load_key.sql");
        select(connection, sql, (part, scope, key, now.as_millis()))
    };
    match key {
        RecordKey::Execution(_) => Ok(None),
        RecordKey::Attempt(id, own) => {
            let sql = include_str!("../sql/load_attempt.sql");
            select(connection, sql, (uuid_text(*id), part, own))
        }
        RecordKey::Waitpoint(id, own) => {
            let sql = include_str!("../sql/load_waitpoint.sql");
            select(connection, sql, (uuid_text(*id), part, own.to_string()))
        }
        RecordKey::Signal(id, own) => {
            let sql = include_str!("../sql/load_signal.sql");
            select(connection, sql, (uuid_text(*id), part, own.to_string()))
        }
        RecordKey::Step(id, own) => {
            let sql = include_str!("../sql/load_step.sql");
            select(connection, sql, (uuid_text(*id), part, own.as_str()))
        }
        RecordKey::SignalKey(id, own) => find_key(signal_scope(*id), own.as_str()),
        RecordKey::SubmissionKey(scope, own) => find_key(scope_text(scope), own.as_str()),
        RecordKey::Flow(id) => select(connection, include_str!("../sql/load_flow.sql"), (id.to_string(), part)),
        RecordKey::Gate(id) => select(connection, include_str!("../sql/load_gate.sql"), (id.to_string(), part)),
        RecordKey::Edge(id) => select(connection, include_str!("../sql/load_edge.sql"), (id.to_string(), part)),
    }
}

fn select(connection: &Connection, sql: &str, params: impl Params) -> rusqlite::Result<Found> {
    let mut statement = connection.prepare_cached(sql)?;
    statement
        .query_row(params, |row| Ok((row.get(2)?, version(row, 0)?)))
        .optional()
}

/// Steps of an execution in the order in which they were recorded.
pub(crate) fn load_steps(
    connection: &Connection,
    partition: Partition,
    asked: &LoadSteps,
) -> rusqlite::Result<Vec<(Step, Version)>> {
    let mut statement = connection.prepare_cached(include_str!("../sql/load_steps.sql"))?;
    let params = (
        uuid_text(asked.execution_id),
        index(partition),
        asked.from_seq,
        asked.limit,
    );
    let steps = statement.query_map(params, |row| {
        Ok((from_stored(row.get_ref(2)?.as_str()?)?, version(row, 0)?))
    })?;
    steps.collect()
}

/// A version that stands in two columns, the counter first.
pub(crate) fn version(row: &Row<'_>, column: usize) -> rusqlite::Result<Version> {
    let tag: i64 = row.get(column + 1)?;
    Ok(Version {
        counter: row.get(column)?,
        tag: Tag(tag.cast_unsigned()),
    })
}

/// A record that was stored.
pub(crate) fn from_stored<T: Stored>(text: &str) -> rusqlite::Result<T> {
    stored::read(text).map_err(corrupt)
}

/// A record to be stored.
pub(crate) fn to_stored(record: &impl Stored) -> rusqlite::Result<String> {
    stored::write(record).map_err(corrupt)
}

/// A document that was stored as JSON.
pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(corrupt)
}

/// A document to be stored as JSON.
pub(crate) fn to_json(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(corrupt)
}

/// The keys of signals are unique per execution.
fn signal_scope(id: ExecutionId) -> String {
    format!("signals:{id}")
}

const fn edge_state(state: EdgeState) -> &'static str {
    match state {
        EdgeState::Staged => "staged",
        EdgeState::Unresolved => "unresolved",
        EdgeState::Satisfied => "satisfied",
        EdgeState::Failed => "failed",
    }
}

/// A record to be written, with all that goes into its row.
pub(crate) struct Writing<'r> {
    pub(crate) partition: Partition,
    pub(crate) record: &'r Record,
    pub(crate) version: Version,
    /// It replaces one that exists.
    pub(crate) replaces: bool,
    pub(crate) expires_at: Option<Timestamp>,
}

impl Batch<'_> {
    /// Writes a record that is not an execution.
    pub(crate) fn write_record(&mut self, writing: &Writing<'_>) -> rusqlite::Result<()> {
        let part = index(writing.partition);
        let (counter, tag) = (writing.version.counter, writing.version.tag.0.cast_signed());
        let (due, body) = (due_at(writing.record), record::write(writing.record));
        match writing.record {
            // Executions have entries in many indexes and a file of their own.
            Record::Execution(_) => return Ok(()),
            Record::Attempt(id, attempt) => {
                let params = (uuid_text(*id), part, attempt.index, counter, tag, body);
                self.run(include_str!("../sql/put_attempt.sql"), params)?;
            }
            Record::Waitpoint(waitpoint) => {
                let (id, own) = (uuid_text(waitpoint.execution_id), waitpoint.id.to_string());
                let params = (id, part, own, counter, tag, due.map(Timestamp::as_millis), body);
                self.run(include_str!("../sql/put_waitpoint.sql"), params)?;
            }
            Record::Signal(signal) => {
                let (id, own) = (uuid_text(signal.execution_id), signal.id.to_string());
                let waiting_at = signal.waiting_at().map(|waitpoint| waitpoint.to_string());
                let params = (id, part, own, counter, tag, waiting_at, body);
                self.run(include_str!("../sql/put_signal.sql"), params)?;
            }
            Record::Step(step) => {
                let (id, own) = (uuid_text(step.execution_id), step.key.as_str());
                let params = (id, part, own, step.seq, counter, tag, body);
                self.run(include_str!("../sql/put_step.sql"), params)?;
            }
            Record::SignalKey(key) => {
                self.write_key(writing, (&signal_scope(key.execution_id), key.key.as_str()), body)?;
            }
            Record::SubmissionKey(key) => {
                self.write_key(writing, (&scope_text(&key.scope), key.key.as_str()), body)?;
            }
            Record::Flow(flow) => self.write_flow(writing, flow, body)?,
            Record::Gate(gate) => {
                let params = (
                    gate.flow_id.to_string(),
                    part,
                    counter,
                    tag,
                    state::gate_word(gate.state),
                );
                self.run(include_str!("../sql/put_gate.sql"), params)?;
            }
            Record::Edge(edge) => self.write_edge(writing, edge, body)?,
        }
        self.note_due(writing.partition, due);
        Ok(())
    }

    fn write_key(&self, writing: &Writing<'_>, (scope, key): (&str, &str), body: String) -> rusqlite::Result<()> {
        let (counter, tag) = (writing.version.counter, writing.version.tag.0.cast_signed());
        let expires_at = writing.expires_at.map(Timestamp::as_millis);
        let params = (index(writing.partition), scope, key, counter, tag, expires_at, body);
        self.run(include_str!("../sql/put_key.sql"), params)
    }

    fn write_flow(&self, writing: &Writing<'_>, flow: &Flow, body: String) -> rusqlite::Result<()> {
        let part = index(writing.partition);
        let (counter, tag) = (writing.version.counter, writing.version.tag.0.cast_signed());
        let due = due_at(writing.record).map(Timestamp::as_millis);
        let id = flow.id.to_string();
        if writing.replaces {
            return self.run(
                include_str!("../sql/update_flow.sql"),
                (id, part, counter, tag, due, body),
            );
        }
        let (namespace, kind) = (flow.namespace.as_str(), flow.kind.as_str());
        let params = (
            id,
            part,
            counter,
            tag,
            namespace,
            kind,
            flow.created_at.as_millis(),
            due,
            body,
        );
        self.run(include_str!("../sql/insert_flow.sql"), params)
    }

    fn write_edge(&self, writing: &Writing<'_>, edge: &Edge, body: String) -> rusqlite::Result<()> {
        let (counter, tag) = (writing.version.counter, writing.version.tag.0.cast_signed());
        let ends = (edge.upstream.to_string(), edge.downstream.to_string());
        let params = (
            edge.id.to_string(),
            index(writing.partition),
            counter,
            tag,
            ends.0,
            ends.1,
            edge_state(edge.state),
            body,
        );
        self.run(include_str!("../sql/put_edge.sql"), params)
    }

    /// Deletes a record that is not an execution, with its nudge.
    pub(crate) fn delete_record(&self, partition: Partition, key: &RecordKey) -> rusqlite::Result<()> {
        let part = index(partition);
        match key {
            RecordKey::Execution(_) => {}
            RecordKey::Attempt(id, own) => {
                self.run(include_str!("../sql/delete_attempt.sql"), (uuid_text(*id), part, own))?;
            }
            RecordKey::Waitpoint(id, own) => {
                self.run(
                    include_str!("../sql/delete_waitpoint.sql"),
                    (uuid_text(*id), part, own.to_string()),
                )?;
            }
            RecordKey::Signal(id, own) => {
                self.run(
                    include_str!("../sql/delete_signal.sql"),
                    (uuid_text(*id), part, own.to_string()),
                )?;
            }
            RecordKey::SignalKey(id, key) => {
                self.run(
                    include_str!("../sql/delete_key.sql"),
                    (part, signal_scope(*id), key.as_str()),
                )?;
            }
            RecordKey::Step(id, key) => {
                self.run(
                    include_str!("../sql/delete_step.sql"),
                    (uuid_text(*id), part, key.as_str()),
                )?;
            }
            RecordKey::SubmissionKey(scope, key) => {
                self.run(
                    include_str!("../sql/delete_key.sql"),
                    (part, scope_text(scope), key.as_str()),
                )?;
            }
            RecordKey::Flow(flow_id) => {
                self.run(include_str!("../sql/delete_flow.sql"), (flow_id.to_string(), part))?;
                self.run(include_str!("../sql/delete_counters.sql"), (part, name(key)))?;
                self.run(include_str!("../sql/delete_history.sql"), [flow_id.to_string()])?;
            }
            RecordKey::Gate(flow_id) => {
                self.run(include_str!("../sql/delete_gate.sql"), (flow_id.to_string(), part))?;
            }
            RecordKey::Edge(edge_id) => {
                self.run(include_str!("../sql/delete_edge.sql"), (edge_id.to_string(), part))?;
            }
        }
        self.run(include_str!("../sql/delete_nudge.sql"), (part, name(key)))
    }

    /// Runs a statement whose effect on rows does not matter.
    pub(crate) fn run(&self, sql: &'static str, params: impl Params) -> rusqlite::Result<()> {
        self.statement(sql)?.execute(params).map(|_| ())
    }
}
