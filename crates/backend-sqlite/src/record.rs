//! Records: how they are found, written and deleted. Executions have many columns and a file of their own.

use ff_backend::codec::{key, record};
use ff_backend::load::LoadSteps;
use ff_backend::transaction::{Put, Transaction, Version};
use ff_core::machine::placement::due_at;
use ff_core::partition::Partition;
use ff_core::record::{Record, RecordKey, Step, stored};
use ff_core::time::Timestamp;

use crate::batch::Batch;
use crate::column::{columns, text, version};
use crate::database::Database;
use crate::error::corrupt;
use crate::sql::{self, with};

/// A record as it stands, if it does.
pub(crate) fn load(
    database: &Database<'_>,
    partition: Partition,
    key: &RecordKey,
    now: Timestamp,
) -> rusqlite::Result<Option<(Record, Version)>> {
    let read = |row: &rusqlite::Row<'_>| {
        let record = record::read(key, text(row, 2)?).map_err(corrupt)?;
        Ok((record, version(row, 0)?))
    };
    if let RecordKey::Execution(id) = key {
        let (uuid, partition) = columns(*id);
        return database.find(with!(sql::LOAD_EXECUTION, uuid: uuid, partition: partition), read);
    }
    let asked = with!(sql::LOAD_RECORD, key: key::name(key), partition: partition.index, now: now.as_millis());
    database.find(asked, read)
}

/// Steps of an execution in the order in which they were recorded.
pub(crate) fn load_steps(database: &Database<'_>, asked: &LoadSteps) -> rusqlite::Result<Vec<(Step, Version)>> {
    let (uuid, partition) = columns(asked.execution_id);
    let steps = with!(sql::LOAD_STEPS,
        steps: format!("step:{uuid}"), partition: partition, from: asked.from_seq, limit: asked.limit);
    database.all(steps, |row| {
        Ok((stored::read(text(row, 2)?).map_err(corrupt)?, version(row, 0)?))
    })
}

impl Batch<'_> {
    /// Writes a record that is not an execution.
    pub(crate) fn put_record(&mut self, transaction: &Transaction, put: &Put) -> rusqlite::Result<()> {
        let (partition, version) = (transaction.partition, put.version(transaction.tag));
        let due_at = due_at(&put.record);
        let seq = match &put.record {
            Record::Step(step) => Some(step.seq),
            _ => None,
        };
        self.database.run(with!(sql::PUT_RECORD,
            key: key::name(&put.record.key()),
            partition: partition.index,
            version: version.counter,
            tag: version.tag.0.cast_signed(),
            due_at: due_at.map(Timestamp::as_millis),
            expires_at: put.ttl.map(|ttl| (self.now + ttl).as_millis()),
            seq: seq,
            body: record::write(&put.record)))?;
        self.note_due(partition, due_at);
        Ok(())
    }

    /// Deletes a record that is not an execution.
    pub(crate) fn delete_record(&self, partition: Partition, key: &RecordKey) -> rusqlite::Result<()> {
        let (name, partition, database) = (key::name(key), partition.index, &self.database);
        database.run(with!(sql::DELETE_RECORD, key: name, partition: partition))?;
        if let RecordKey::Flow(_) = key {
            database.run(with!(sql::DELETE_COUNTERS, partition: partition, owner: name))?;
            database.run(with!(sql::DELETE_HISTORY, key: name, partition: partition))?;
        }
        Ok(())
    }
}
