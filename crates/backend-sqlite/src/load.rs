//! Reading records, counters and blobs at one moment.

use ff_backend::codec::{counter, key};
use ff_backend::load::{Load, LoadSteps, Snapshot};
use ff_backend::transaction::NudgeStamp;
use ff_core::partition::Partition;
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, Record};
use ff_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params};

use crate::commit::GENERATION;
use crate::key::{index, uuid_text};
use crate::queues::parse;
use crate::record;

/// What was asked for, as it stands in the connection's transaction.
pub(crate) fn snapshot(connection: &Connection, ask: &Load, now: Timestamp) -> rusqlite::Result<Snapshot> {
    let mut snapshot = Snapshot::empty(ask.partition, now);
    snapshot.generation = GENERATION;
    let part = index(ask.partition);
    for key in &ask.records {
        let mut statement = connection.prepare_cached(include_str!("../sql/read_nudge.sql"))?;
        let stamp: Option<i64> = statement
            .query_row((part, key::name(key)), |row| row.get(0))
            .optional()?;
        if let Some(stamp) = stamp {
            snapshot.nudges.insert(key.clone(), NudgeStamp(stamp.cast_unsigned()));
        }
        if let Some(found) = record::load(connection, ask.partition, key, now)? {
            snapshot.records.insert(key.clone(), found);
        }
    }
    if ask.with_gates {
        add_gates(connection, &mut snapshot)?;
    }
    for counter in &ask.counters {
        let (owner, name) = counter::name(*counter);
        let mut statement = connection.prepare_cached(include_str!("../sql/read_counter.sql"))?;
        let value: Option<i64> = statement.query_row((part, owner, name), |row| row.get(0)).optional()?;
        snapshot.counters.insert(*counter, value.unwrap_or(0));
    }
    for blob in &ask.blobs {
        if let Some(payload) = load_blob(connection, ask.partition, *blob)? {
            snapshot.blobs.insert(*blob, payload);
        }
    }
    for steps in &ask.steps {
        add_steps(connection, &mut snapshot, steps)?;
    }
    Ok(snapshot)
}

/// Adds steps, and the outputs of the first ones that fit.
fn add_steps(connection: &Connection, snapshot: &mut Snapshot, asked: &LoadSteps) -> rusqlite::Result<()> {
    let mut left = Some(asked.output_bytes);
    for (step, version) in record::load_steps(connection, snapshot.partition, asked)? {
        if let Some(bytes) = step.output_bytes {
            left = left.and_then(|left| left.checked_sub(bytes));
            let blob = BlobKey::Step(step.execution_id, step.seq);
            if left.is_some()
                && let Some(output) = load_blob(connection, snapshot.partition, blob)?
            {
                snapshot.blobs.insert(blob, output);
            }
        }
        let record = Record::from(step);
        snapshot.records.insert(record.key(), (record, version));
    }
    Ok(())
}

/// Adds the gates of the flows that the executions of the snapshot are members of.
fn add_gates(connection: &Connection, snapshot: &mut Snapshot) -> rusqlite::Result<()> {
    for key in snapshot.gates() {
        if let Some(found) = record::load(connection, snapshot.partition, &key, snapshot.now)? {
            snapshot.records.insert(key, found);
        }
    }
    Ok(())
}

fn load_blob(connection: &Connection, partition: Partition, blob: BlobKey) -> rusqlite::Result<Option<Payload>> {
    let part = index(partition);
    match blob {
        BlobKey::Input(id) => payload(connection, include_str!("../sql/load_input.sql"), (uuid_text(id), part)),
        BlobKey::Result(id) => payload(
            connection,
            include_str!("../sql/load_result.sql"),
            (uuid_text(id), part),
        ),
        BlobKey::Signal(id, signal_id) => {
            let params = (uuid_text(id), part, signal_id.to_string());
            payload(connection, include_str!("../sql/load_signal_payload.sql"), params)
        }
        BlobKey::Step(id, seq) => payload(
            connection,
            include_str!("../sql/load_step_output.sql"),
            (uuid_text(id), part, seq),
        ),
    }
}

fn payload(connection: &Connection, sql: &str, params: impl Params) -> rusqlite::Result<Option<Payload>> {
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row(params, |row| {
        let content_type = parse(row.get_ref(0)?.as_str()?)?;
        let bytes: Vec<u8> = row.get(1)?;
        Ok(Payload {
            bytes: bytes.into(),
            content_type,
        })
    });
    found.optional()
}
