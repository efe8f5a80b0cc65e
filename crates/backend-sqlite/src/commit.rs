//! One transaction of the contract, inside the writer's open batch: everything is compared before anything is written.

use std::collections::BTreeMap;

use ff_backend::codec::{counter, key};
use ff_backend::transaction::{CommitError, Committed, Generation, NudgeStamp, Put, Transaction, Version};
use ff_core::id::ExecutionId;
use ff_core::machine::decided::Nudge;
use ff_core::partition::Partition;
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, CounterKey, HistorySubject, Record, RecordKey};
use rusqlite::OptionalExtension;

use crate::batch::Batch;
use crate::execution::{Lines, Row};
use crate::history::LinesBySubject;
use crate::key::{index, subject_text, uuid_text};
use crate::record::{self, Writing};

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
            let found = record::load(self.connection, partition, key, self.now)?;
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
            self.put(transaction, put, rows, &mut lines, &mut written)?;
        }
        for (subject, lines) in &lines {
            self.append_history(partition, *subject, lines)?;
        }
        for (blob, payload) in &transaction.blobs {
            if !transaction.deletes.iter().any(|(key, _)| *key == owner(*blob)) {
                self.put_blob(partition, *blob, payload, &written)?;
            }
        }
        for id in &transaction.delete_remains {
            self.delete_remains(*id)?;
        }
        for (key, _) in &transaction.deletes {
            self.delete(transaction, key, rows)?;
        }
        let counters = self.move_counters(partition, &transaction.increments)?;
        for nudge in &transaction.nudges {
            self.nudge(transaction, nudge)?;
        }
        for (key, stamp) in &transaction.clear_nudges {
            self.clear_nudge(partition, key, *stamp)?;
        }
        for end in &transaction.stream_ends {
            self.end_stream(end)?;
        }
        Ok(counters)
    }

    fn put(
        &mut self,
        transaction: &Transaction,
        put: &Put,
        rows: &Rows,
        lines: &mut LinesBySubject<'_>,
        written: &mut BTreeMap<ExecutionId, i64>,
    ) -> rusqlite::Result<()> {
        let version = put.version(transaction.tag);
        if let Record::Execution(execution) = &put.record {
            let own = lines
                .remove(&HistorySubject::Execution(execution.id))
                .unwrap_or_default();
            let own = Lines::of(&own, execution);
            let row = self.write_execution(execution, version, rows.get(&execution.id), &own)?;
            written.insert(execution.id, row);
            return Ok(());
        }
        let expires_at = put.ttl.map(|ttl| self.now + ttl);
        self.write_record(&Writing {
            partition: transaction.partition,
            record: &put.record,
            version,
            replaces: put.expected.is_some(),
            expires_at,
        })
    }

    fn put_blob(
        &self,
        partition: Partition,
        blob: BlobKey,
        payload: &Payload,
        written: &BTreeMap<ExecutionId, i64>,
    ) -> rusqlite::Result<()> {
        let (content_type, bytes) = (payload.content_type.as_str(), &payload.bytes[..]);
        let (put, replace) = match blob {
            BlobKey::Input(_) => (
                include_str!("../sql/put_input.sql"),
                include_str!("../sql/replace_input.sql"),
            ),
            BlobKey::Result(_) => (
                include_str!("../sql/put_result.sql"),
                include_str!("../sql/replace_result.sql"),
            ),
            BlobKey::Signal(id, signal_id) => {
                let params = (
                    uuid_text(id),
                    index(partition),
                    signal_id.to_string(),
                    content_type,
                    bytes,
                );
                return self.run(include_str!("../sql/put_signal_payload.sql"), params);
            }
            BlobKey::Step(id, seq) => {
                let params = (uuid_text(id), index(partition), seq, content_type, bytes);
                return self.run(include_str!("../sql/put_step_output.sql"), params);
            }
        };
        let id = blob.execution_id();
        let row = match written.get(&id) {
            Some(row) => Some(*row),
            None => self.find_execution(id)?.map(|found| found.row),
        };
        let Some(row) = row else { return Ok(()) };
        if self.statement(put)?.execute((row, content_type, bytes))? == 0 {
            self.run(replace, (row, content_type, bytes))?;
        }
        Ok(())
    }

    fn delete(&mut self, transaction: &Transaction, key: &RecordKey, rows: &Rows) -> rusqlite::Result<()> {
        if let RecordKey::Execution(id) = key
            && let Some(row) = rows.get(id)
        {
            if !transaction.delete_remains.contains(id) {
                self.delete_blobs(*id, row.row)?;
            }
            self.delete_execution(*id, row)?;
        }
        self.delete_record(transaction.partition, key)
    }

    fn delete_blobs(&self, id: ExecutionId, row: i64) -> rusqlite::Result<()> {
        self.run(include_str!("../sql/delete_input.sql"), [row])?;
        self.run(include_str!("../sql/delete_result.sql"), [row])?;
        let (uuid, part) = (uuid_text(id), index(id.partition()));
        self.run(include_str!("../sql/delete_signal_payloads.sql"), (&uuid, part))?;
        self.run(include_str!("../sql/delete_step_outputs.sql"), (&uuid, part))
    }

    /// Deletes what is kept for an execution beside its records.
    fn delete_remains(&mut self, id: ExecutionId) -> rusqlite::Result<()> {
        let (uuid, part) = (uuid_text(id), index(id.partition()));
        if let Some(found) = self.find_execution(id)? {
            self.delete_blobs(id, found.row)?;
            self.run(include_str!("../sql/clear_execution_history.sql"), (&uuid, part))?;
        }
        self.run(
            include_str!("../sql/delete_history.sql"),
            [subject_text(HistorySubject::Execution(id))],
        )?;
        self.run(include_str!("../sql/delete_counters.sql"), (part, key::execution(id)))?;
        self.delete_streams(id)
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
            let mut statement = self.statement(include_str!("../sql/move_counter.sql"))?;
            let value = statement.query_row((index(partition), owner, name, by), |row| row.get(0))?;
            moved.push((*counter, value));
        }
        Ok(moved)
    }

    fn nudge(&mut self, transaction: &Transaction, nudge: &Nudge) -> rusqlite::Result<()> {
        let partition = transaction.partition;
        if let Some(counter) = nudge.only_at_zero
            && read_counter(self, partition, counter)? != 0
        {
            return Ok(());
        }
        // The tag names the transaction, and a transaction nudges a record once: no two nudges share a stamp.
        let stamp = transaction.tag.0.cast_signed();
        let params = (index(partition), key::name(&nudge.key), stamp, self.now.as_millis());
        self.run(include_str!("../sql/put_nudge.sql"), params)?;
        self.note_due(partition, Some(self.now));
        Ok(())
    }

    fn clear_nudge(&self, partition: Partition, key: &RecordKey, stamp: NudgeStamp) -> rusqlite::Result<()> {
        let params = (index(partition), key::name(key), stamp.0.cast_signed());
        self.run(include_str!("../sql/clear_nudge.sql"), params)
    }
}

fn read_counter(batch: &Batch<'_>, partition: Partition, counter: CounterKey) -> rusqlite::Result<i64> {
    let (owner, name) = counter::name(counter);
    let mut statement = batch.statement(include_str!("../sql/read_counter.sql"))?;
    let value = statement
        .query_row((index(partition), owner, name), |row| row.get(0))
        .optional()?;
    Ok(value.unwrap_or(0))
}

/// The execution a blob stands beside.
const fn owner(blob: BlobKey) -> RecordKey {
    RecordKey::Execution(blob.execution_id())
}
