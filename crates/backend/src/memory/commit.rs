//! Transactions: compare, refuse, apply.

use ff_core::id::{ExecutionId, FlowId, SignalId};
use ff_core::machine::decided::{Nudge, StreamEnd};
use ff_core::partition::{Family, Partition};
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, CounterKey, FlowCounter, GroupCounter, HistorySubject, RecordKey};
use uuid::Uuid;

use super::store::Store;
use crate::hint::Hint;
use crate::transaction::{CommitError, Committed, NudgeStamp, Put, Tag, Transaction};

impl Store {
    /// Commits each transaction or leaves no trace of it.
    pub(super) fn commit_batch(&mut self, batch: Vec<Transaction>) -> Vec<Result<Committed, CommitError>> {
        batch.into_iter().map(|transaction| self.commit(transaction)).collect()
    }

    fn commit(&mut self, transaction: Transaction) -> Result<Committed, CommitError> {
        transaction.check()?;
        if transaction.partition.index >= self.counts.count(Family::Flow) {
            return Err(CommitError::Malformed("not a partition of this store"));
        }
        self.judge(&transaction)?;
        let committed = self.apply(transaction);
        self.hints.send();
        Ok(committed)
    }

    fn judge(&self, transaction: &Transaction) -> Result<(), CommitError> {
        self.check_generation(transaction)?;
        self.compare(transaction)?;
        self.check_time(transaction)?;
        self.check_queues(transaction)
    }

    fn check_generation(&self, transaction: &Transaction) -> Result<(), CommitError> {
        match transaction.generation {
            Some(read) if read != self.generation => Err(CommitError::OtherGeneration),
            _ => Ok(()),
        }
    }

    fn compare(&self, transaction: &Transaction) -> Result<(), CommitError> {
        for (_, key, expected) in transaction.expectations() {
            let found = self.version(transaction.partition, &key);
            if found != expected {
                return Err(CommitError::Conflict { key, found });
            }
        }
        Ok(())
    }

    fn check_time(&self, transaction: &Transaction) -> Result<(), CommitError> {
        let now = self.now;
        match transaction.not_after {
            Some(at) if at.has_come(now) => Err(CommitError::TooLate { now }),
            _ => Ok(()),
        }
    }

    fn check_queues(&self, transaction: &Transaction) -> Result<(), CommitError> {
        if !transaction.limits_queues {
            return Ok(());
        }
        if self.queues.would_overflow(transaction) {
            return Err(CommitError::TooManyQueues);
        }
        Ok(())
    }

    /// Deleting comes after counting and telling, so that nothing of a deleted subject is left by its own transaction.
    fn apply(&mut self, transaction: Transaction) -> Committed {
        let at = transaction.partition;
        for put in transaction.puts {
            self.put(at, put, transaction.tag);
        }
        self.tell(at, transaction.history);
        let counters = self.move_counters(at, &transaction.increments);
        for end in &transaction.stream_ends {
            self.end_stream(end);
        }
        for delete in &transaction.deletes {
            delete.listed.iter().for_each(|entry| self.lists.leave(entry));
            self.delete(at, &delete.key);
        }
        for (key, payload) in transaction.blobs {
            self.keep_blob(at, key, payload);
        }
        for execution_id in transaction.delete_remains {
            self.delete_remains(execution_id);
        }
        for (key, stamp) in &transaction.clear_nudges {
            self.clear_nudge(at, key, *stamp);
        }
        for nudge in transaction.nudges {
            self.nudge_if_asked(at, nudge);
        }
        Committed {
            now: self.now,
            counters,
        }
    }

    fn put(&mut self, at: Partition, put: Put, tag: Tag) {
        let (version, moves) = (put.version(tag), put.moves());
        moves.leaves.iter().for_each(|entry| self.lists.leave(entry));
        let key = put.record.key();
        for entry in moves.enters {
            self.lists.enter(entry, at, &key);
        }
        let expires_at = put.ttl.map(|ttl| self.now + ttl);
        self.write(at, put.record, version, expires_at);
    }

    /// Moves counters; answers their new values.
    pub(super) fn move_counters(&mut self, at: Partition, increments: &[(CounterKey, i64)]) -> Vec<(CounterKey, i64)> {
        let counters = &mut self.partition_mut(at).counters;
        for (key, by) in increments {
            *counters.entry(*key).or_default() += by;
        }
        increments.iter().map(|(key, _)| (*key, counters[key])).collect()
    }

    /// Keeps bytes beside their execution, if it is still there.
    fn keep_blob(&mut self, at: Partition, key: BlobKey, payload: Payload) {
        if self.execution(key.execution_id()).is_some() {
            self.partition_mut(at).blobs.insert(key, payload);
        }
    }

    fn end_stream(&mut self, end: &StreamEnd) {
        let (execution_id, attempt_index) = (end.execution_id, end.attempt_index);
        if let Some(stream) = self.streams.get_mut(&(execution_id, attempt_index)) {
            stream.closed = Some((end.at, end.reason));
        }
        self.hints.note(Hint::Stream {
            execution_id,
            attempt_index,
        });
    }

    fn delete(&mut self, at: Partition, key: &RecordKey) {
        self.erase(at, key);
        match *key {
            RecordKey::Execution(id) => self.delete_blobs(id),
            RecordKey::Flow(flow_id) => self.delete_flow_remains(at, flow_id),
            _ => {}
        }
    }

    fn delete_flow_remains(&mut self, at: Partition, flow_id: FlowId) {
        let counters = &mut self.partition_mut(at).counters;
        for counter in FlowCounter::all() {
            counters.remove(&CounterKey::Flow(flow_id, counter));
        }
        self.histories.remove(&HistorySubject::Flow(flow_id));
    }

    fn delete_blobs(&mut self, id: ExecutionId) {
        let blobs = &mut self.partition_mut(id.partition()).blobs;
        let (first, last) = (SignalId::from_uuid(Uuid::nil()), SignalId::from_uuid(Uuid::max()));
        let signals = blobs.range(BlobKey::Signal(id, first)..=BlobKey::Signal(id, last));
        let steps = blobs.range(BlobKey::Step(id, 0)..=BlobKey::Step(id, u64::MAX));
        let listed: Vec<BlobKey> = signals.chain(steps).map(|(key, _)| *key).collect();
        for key in listed.into_iter().chain([BlobKey::Input(id), BlobKey::Result(id)]) {
            blobs.remove(&key);
        }
    }

    fn delete_remains(&mut self, id: ExecutionId) {
        self.delete_blobs(id);
        let partition = self.partition_mut(id.partition());
        partition.counters.remove(&CounterKey::BufferedSignals(id));
        for counter in GroupCounter::ALL {
            partition.counters.remove(&CounterKey::Group(id, counter));
        }
        self.histories.remove(&HistorySubject::Execution(id));
        let streams: Vec<_> = self
            .streams
            .range((id, 0)..=(id, u32::MAX))
            .map(|(key, _)| *key)
            .collect();
        for key in streams {
            self.streams.remove(&key);
        }
    }

    fn clear_nudge(&mut self, at: Partition, key: &RecordKey, stamp: NudgeStamp) {
        if let Some(agenda) = self.agendas.get_mut(&at)
            && agenda.stamp(key) == Some(stamp)
        {
            agenda.forget_nudge(key);
        }
    }

    fn nudge_if_asked(&mut self, at: Partition, nudge: Nudge) {
        let value = |counter: &CounterKey| {
            self.partitions
                .get(&at)
                .and_then(|partition| partition.counters.get(counter))
        };
        let stands_at_zero = nudge
            .only_at_zero
            .is_none_or(|counter| value(&counter).is_none_or(|value| *value == 0));
        if stands_at_zero {
            self.nudge(at, nudge.key);
        }
    }
}
