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
        let stamp = database.find(nudge, |row| row.get(0).map(i64::cast_unsigned).map(NudgeStamp))?;
        snapshot.nudges.extend(stamp.map(|stamp| (key.clone(), stamp)));
        let found = record::load(database, ask.partition, key, now)?;
        snapshot.records.extend(found.map(|found| (key.clone(), found)));
    }
    let gates = ask.with_gates.then(|| snapshot.gates());
    for key in gates.into_iter().flatten() {
        let found = record::load(database, ask.partition, &key, now)?;
        snapshot.records.extend(found.map(|found| (key, found)));
    }
    for key in &ask.counters {
        let value = counter(database, ask.partition, *key)?;
        snapshot.counters.insert(*key, value);
    }
    for key in &ask.blobs {
        let found = blob(database, *key)?;
        snapshot.blobs.extend(found.map(|payload| (*key, payload)));
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
            if left.is_some() {
                let output = blob(database, key)?;
                snapshot.blobs.extend(output.map(|output| (key, output)));
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
            let asked = with!(sql::LOAD_PAYLOAD, uuid: uuid, partition: partition, name: key::blob(blob));
            database.find(asked, read)
        }
    }
}
