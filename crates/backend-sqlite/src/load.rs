//! Reading records, counters and blobs at one moment.

use ff_backend::codec::{counter, key};
use ff_backend::load::{Load, LoadSteps, Snapshot};
use ff_backend::transaction::NudgeStamp;
use ff_core::partition::Partition;
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, CounterKey, Record};
use ff_core::time::Timestamp;
use rusqlite::Row;

use crate::column::{columns, payload};
use crate::commit::GENERATION;
use crate::database::Database;
use crate::record;
use crate::sql::{self, with};

/// What was asked for, as it stands in the connection's transaction.
pub(crate) fn snapshot(database: &Database<'_>, ask: &Load, now: Timestamp) -> rusqlite::Result<Snapshot> {
    let mut snapshot = Snapshot::empty(ask.partition, now);
    snapshot.generation = GENERATION;
    for key in &ask.records {
        let nudge = with!(sql::READ_NUDGE, partition: ask.partition.index, key: key::name(key));
        if let Some(stamp) = database.find(nudge, |row| row.get::<_, i64>(0))? {
            snapshot.nudges.insert(key.clone(), NudgeStamp(stamp.cast_unsigned()));
        }
        if let Some(found) = record::load(database, ask.partition, key, now)? {
            snapshot.records.insert(key.clone(), found);
        }
    }
    let gates = ask.with_gates.then(|| snapshot.gates());
    for key in gates.into_iter().flatten() {
        if let Some(found) = record::load(database, ask.partition, &key, now)? {
            snapshot.records.insert(key, found);
        }
    }
    for key in &ask.counters {
        let value = counter(database, ask.partition, *key)?;
        snapshot.counters.insert(*key, value);
    }
    for key in &ask.blobs {
        if let Some(payload) = blob(database, *key)? {
            snapshot.blobs.insert(*key, payload);
        }
    }
    for steps in &ask.steps {
        add_steps(database, &mut snapshot, steps)?;
    }
    Ok(snapshot)
}

/// Adds steps, and the outputs of the first ones that fit.
fn add_steps(database: &Database<'_>, snapshot: &mut Snapshot, asked: &LoadSteps) -> rusqlite::Result<()> {
    let mut left = Some(asked.output_bytes);
    for (step, version) in record::load_steps(database, asked)? {
        if let Some(bytes) = step.output_bytes {
            left = left.and_then(|left| left.checked_sub(bytes));
            let key = BlobKey::Step(step.execution_id, step.seq);
            if left.is_some()
                && let Some(output) = blob(database, key)?
            {
                snapshot.blobs.insert(key, output);
            }
        }
        let record = Record::from(step);
        snapshot.records.insert(record.key(), (record, version));
    }
    Ok(())
}

/// A counter; one that was never moved is 0.
pub(crate) fn counter(database: &Database<'_>, partition: Partition, counter: CounterKey) -> rusqlite::Result<i64> {
    let (owner, name) = counter::name(counter);
    let asked = with!(sql::READ_COUNTER, partition: partition.index, owner: owner, name: name);
    Ok(database.find(asked, |row| row.get(0))?.unwrap_or(0))
}

fn blob(database: &Database<'_>, blob: BlobKey) -> rusqlite::Result<Option<Payload>> {
    let (uuid, partition) = columns(blob.execution_id());
    let read = |row: &Row<'_>| payload(row, 0);
    match blob {
        BlobKey::Input(_) => database.find(with!(sql::LOAD_INPUT, uuid: uuid, partition: partition), read),
        BlobKey::Result(_) => database.find(with!(sql::LOAD_RESULT, uuid: uuid, partition: partition), read),
        BlobKey::Signal(..) | BlobKey::Step(..) => {
            let name = blob_name(blob);
            database.find(
                with!(sql::LOAD_PAYLOAD, uuid: uuid, partition: partition, name: name),
                read,
            )
        }
    }
}

/// What a blob is told apart by from the others of its execution.
pub(crate) fn blob_name(blob: BlobKey) -> String {
    match blob {
        BlobKey::Input(_) => "input".to_owned(),
        BlobKey::Result(_) => "result".to_owned(),
        BlobKey::Signal(_, signal_id) => format!("signal:{signal_id}"),
        BlobKey::Step(_, seq) => format!("step:{seq}"),
    }
}
