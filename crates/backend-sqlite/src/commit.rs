//! One transaction of the contract, inside the writer's open batch: everything is compared before anything is written.

use std::collections::BTreeMap;

use ff_backend::codec::{counter, key};
use ff_backend::transaction::{CommitError, Committed, Delete, Generation, Transaction, Version};
use ff_core::id::ExecutionId;
use ff_core::machine::decided::Nudge;
use ff_core::partition::Partition;
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, CounterKey, Record, RecordKey};

use crate::batch::Batch;
use crate::column::columns;
use crate::execution::Row;
use crate::history::take_lines;
use crate::load::counter;
use crate::record;
use crate::sql::{self, with};

/// The only generation there is. What was acknowledged can be lost to a power cut or to a restored backup, but then the
/// process that opened the file, the only one, is gone too, with whatever it had read from counters.
pub(crate) const GENERATION: Generation = Generation(0);

/// The rows of the executions a transaction writes or deletes, as they were found.
type Rows = BTreeMap<ExecutionId, Row>;

impl Batch<'_> {
    /// Commits a transaction, or refuses it and does nothing.
    pub(crate) fn commit(&mut self, transaction: &Transaction) -> rusqlite::Result<Result<Committed, CommitError>> {
        if let Err(malformed) = transaction.check() {
            return Ok(Err(malformed));
        }
        if transaction.generation.is_some_and(|read| read != GENERATION) {
            return Ok(Err(CommitError::OtherGeneration));
        }
        let rows = match self.compare(transaction)? {
            Ok(rows) => rows,
            Err(conflict) => return Ok(Err(conflict)),
        };
        let now = self.now;
        if transaction.not_after.is_some_and(|at| at.has_come(now)) {
            return Ok(Err(CommitError::TooLate { now }));
        }
        if transaction.limits_queues && self.queues.counts.would_overflow(transaction) {
            return Ok(Err(CommitError::TooManyQueues));
        }
        let counters = self.apply(transaction, &rows)?;
        Ok(Ok(Committed { now, counters }))
    }

    /// Compares every version the transaction was computed from; the first that differs is the conflict.
    fn compare(&self, transaction: &Transaction) -> rusqlite::Result<Result<Rows, CommitError>> {
        let mut rows = Rows::new();
        for (_, key, expected) in transaction.expectations() {
            let found = self.find(transaction.partition, &key, &mut rows)?;
            if found != expected {
                return Ok(Err(CommitError::Conflict { key, found }));
            }
        }
        Ok(Ok(rows))
    }

    fn find(&self, partition: Partition, key: &RecordKey, rows: &mut Rows) -> rusqlite::Result<Option<Version>> {
        let RecordKey::Execution(id) = key else {
            let found = record::load(&self.database, partition, key, self.now)?;
            return Ok(found.map(|(_, version)| version));
        };
        if id.uuid() > self.state.greatest_uuid {
            return Ok(None);
        }
        let Some(row) = self.find_execution(*id)? else {
            return Ok(None);
        };
        let version = row.version;
        rows.insert(*id, row);
        Ok(Some(version))
    }

    fn apply(&mut self, transaction: &Transaction, rows: &Rows) -> rusqlite::Result<Vec<(CounterKey, i64)>> {
        let partition = transaction.partition;
        let mut lines = self.take_history(partition, &transaction.history)?;
        let mut written = BTreeMap::new();
        for put in &transaction.puts {
            match &put.record {
                Record::Execution(execution) => {
                    let own = take_lines(&mut lines, execution);
                    let (version, before) = (put.version(transaction.tag), rows.get(&execution.id));
                    let row = self.put_execution(execution, version, before, &own)?;
                    written.insert(execution.id, row);
                }
                _ => self.put_record(transaction, put)?,
            }
            self.move_in_lists(partition, put)?;
        }
        for (subject, lines) in &lines {
            self.append_history(partition, *subject, lines)?;
        }
        for (blob, payload) in &transaction.blobs {
            let owner = RecordKey::Execution(blob.execution_id());
            if !transaction.deletes.iter().any(|delete| delete.key == owner) {
                self.put_blob(*blob, payload, &written)?;
            }
        }
        for id in &transaction.delete_remains {
            self.delete_remains(*id)?;
        }
        for delete in &transaction.deletes {
            self.delete(transaction, delete, rows)?;
        }
        let counters = self.move_counters(partition, &transaction.increments)?;
        for nudge in &transaction.nudges {
            self.nudge(transaction, nudge)?;
        }
        for (key, stamp) in &transaction.clear_nudges {
            self.database.run(with!(sql::CLEAR_NUDGE,
                partition: partition.index, key: key::name(key), stamp: stamp.0.cast_signed()))?;
        }
        for end in &transaction.stream_ends {
            self.end_stream(end)?;
        }
        Ok(counters)
    }

    fn put_blob(&self, blob: BlobKey, payload: &Payload, written: &BTreeMap<ExecutionId, i64>) -> rusqlite::Result<()> {
        let (id, content_type, bytes) = (blob.execution_id(), payload.content_type.as_str(), &payload.bytes[..]);
        let put = match blob {
            BlobKey::Input(_) => sql::PUT_INPUT,
            BlobKey::Result(_) => sql::PUT_RESULT,
            BlobKey::Signal(..) | BlobKey::Step(..) => {
                let (uuid, partition) = columns(id);
                self.database.run(with!(sql::PUT_PAYLOAD,
                    uuid: uuid, partition: partition, name: key::blob(blob), content_type: content_type, bytes: bytes))?;
                return Ok(());
            }
        };
        let row = match written.get(&id) {
            Some(row) => Some(*row),
            None => self.find_execution(id)?.map(|found| found.row),
        };
        if let Some(row) = row {
            self.database.run((put, (row, content_type, bytes)))?;
        }
        Ok(())
    }

    fn delete(&mut self, transaction: &Transaction, delete: &Delete, rows: &Rows) -> rusqlite::Result<()> {
        match &delete.key {
            RecordKey::Execution(id) => {
                let Some(row) = rows.get(id) else { return Ok(()) };
                if !transaction.delete_remains.contains(id) {
                    self.delete_blobs(*id, row.row)?;
                }
                self.delete_execution(*id, row)?;
            }
            key => self.delete_record(transaction.partition, key)?,
        }
        self.leave_lists(&delete.listed)?;
        let nudge = with!(sql::DELETE_NUDGE, partition: transaction.partition.index, key: key::name(&delete.key));
        self.database.run(nudge)
    }

    fn delete_blobs(&self, id: ExecutionId, row: i64) -> rusqlite::Result<()> {
        let (uuid, partition) = columns(id);
        self.database.run(with!(sql::DELETE_INPUT, row: row))?;
        self.database.run(with!(sql::DELETE_RESULT, row: row))?;
        self.database
            .run(with!(sql::DELETE_PAYLOADS, uuid: uuid, partition: partition))
    }

    /// Deletes what is kept for an execution beside its records.
    fn delete_remains(&mut self, id: ExecutionId) -> rusqlite::Result<()> {
        let ((uuid, partition), name) = (columns(id), key::execution(id));
        if let Some(found) = self.find_execution(id)? {
            self.delete_blobs(id, found.row)?;
        }
        let database = &self.database;
        database.run(with!(sql::CLEAR_EXECUTION_HISTORY, uuid: uuid, partition: partition))?;
        database.run(with!(sql::DELETE_HISTORY, key: name, partition: partition))?;
        database.run(with!(sql::DELETE_COUNTERS, partition: partition, owner: name))?;
        database.run(with!(sql::DELETE_STREAMS, uuid: uuid, partition: partition))
    }

    /// Moves counters and answers their new values.
    pub(crate) fn move_counters(
        &self,
        partition: Partition,
        increments: &[(CounterKey, i64)],
    ) -> rusqlite::Result<Vec<(CounterKey, i64)>> {
        let mut moved = Vec::with_capacity(increments.len());
        for (counter, by) in increments {
            let (owner, name) = counter::name(*counter);
            let asked = with!(sql::MOVE_COUNTER, partition: partition.index, owner: owner, name: name, by: by);
            let value = self.database.find(asked, |row| row.get(0))?;
            moved.extend(value.map(|value| (*counter, value)));
        }
        Ok(moved)
    }

    fn nudge(&mut self, transaction: &Transaction, nudge: &Nudge) -> rusqlite::Result<()> {
        let partition = transaction.partition;
        if let Some(only_at_zero) = nudge.only_at_zero
            && counter(&self.database, partition, only_at_zero)? != 0
        {
            return Ok(());
        }
        // The tag names the transaction, and a transaction nudges a record once: no two nudges share a stamp.
        let stamp = transaction.tag.0.cast_signed();
        self.database.run(with!(sql::PUT_NUDGE,
            partition: partition.index, key: key::name(&nudge.key), stamp: stamp, at: self.now.as_millis()))?;
        self.note_due(partition, Some(self.now));
        Ok(())
    }
}
