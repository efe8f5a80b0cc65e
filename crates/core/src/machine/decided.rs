//! What a rule answers: the outcome for the caller, and the draft of the transaction that makes it true.

use crate::id::ExecutionId;
use crate::payload::Payload;
use crate::record::{BlobKey, CounterKey, HistoryLine, Record, RecordKey};
use crate::state::PublicState;
use crate::time::{Duration, Timestamp};

/// An accepted command: what to tell the caller once `draft` is committed. An empty draft needs no commit.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided<O> {
    /// For the caller.
    pub outcome: O,
    /// For the store.
    pub draft: Draft,
}

impl<O> Decided<O> {
    /// An answer that changes nothing.
    pub fn unchanged(outcome: O) -> Self {
        Self {
            outcome,
            draft: Draft::default(),
        }
    }

    /// The same draft with another outcome.
    pub fn map<P>(self, f: impl FnOnce(O) -> P) -> Decided<P> {
        Decided {
            outcome: f(self.outcome),
            draft: self.draft,
        }
    }
}

/// A transaction of one partition in the making. The engine binds it to the versions its records were loaded with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// Records to write or delete.
    pub writes: Vec<Write>,
    /// Records that were read, are not written, and must not have changed.
    pub guards: Vec<RecordKey>,
    /// Bytes to keep beside records.
    pub blobs: Vec<(BlobKey, Payload)>,
    /// What happened.
    pub history: Vec<HistoryLine>,
    /// Counters to move. Only beside a write of a record, which is what makes repeating safe.
    pub increments: Vec<(CounterKey, i64)>,
    /// Records to evaluate soon.
    pub nudges: Vec<Nudge>,
    /// Output streams that end here.
    pub stream_ends: Vec<StreamEnd>,
    /// Refused by the store from this moment on.
    pub not_after: Option<Timestamp>,
    /// A submission: refused if it would open one queue too many.
    pub limits_queues: bool,
}

/// One record written or deleted.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Replaces the record that was loaded.
    Put(Record),
    /// Writes the record that was loaded once more, and enters every list it belongs in as if it were new.
    Again(Record),
    /// Creates a record that must not exist.
    Create {
        /// The record.
        record: Record,
        /// Gone by itself after this long.
        ttl: Option<Duration>,
    },
    /// Deletes the record that was loaded.
    Delete(RecordKey),
    /// Deletes everything that was kept for an execution beside records: blobs, history, streams, counters.
    DeleteRemains(ExecutionId),
}

/// Asks for a record to be evaluated soon, without touching its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nudge {
    /// Which record.
    pub key: RecordKey,
    /// Only when this counter stands at zero after the transaction.
    pub only_at_zero: Option<CounterKey>,
}

/// The end of an attempt's output stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamEnd {
    /// Of which execution.
    pub execution_id: ExecutionId,
    /// Of which attempt.
    pub attempt_index: u32,
    /// When.
    pub at: Timestamp,
    /// Why.
    pub reason: ClosedReason,
}

/// Why a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClosedReason {
    /// The attempt succeeded.
    Success,
    /// It failed.
    Failure,
    /// The execution was cancelled.
    Cancelled,
    /// Its worker was lost.
    Reclaimed,
    /// The execution expired.
    Expired,
    /// Its suspension timed out.
    SuspensionTimeout,
    /// It waited for dependencies that can no longer hold.
    DependencyImpossible,
}

impl Draft {
    /// Whether there is nothing to commit. What a commit is only held to (guards, its last moment) changes nothing.
    pub fn is_empty(&self) -> bool {
        let Draft {
            writes,
            guards: _,
            blobs,
            history,
            increments,
            nudges,
            stream_ends,
            not_after: _,
            limits_queues: _,
        } = self;
        let any_record = !writes.is_empty() || !blobs.is_empty() || !history.is_empty();
        !any_record && increments.is_empty() && nudges.is_empty() && stream_ends.is_empty()
    }

    /// Adds everything of `other`, so that two decisions land or fail together.
    pub fn merge(&mut self, other: Draft) {
        self.writes.extend(other.writes);
        for guard in other.guards {
            self.guard(guard);
        }
        self.blobs.extend(other.blobs);
        self.history.extend(other.history);
        for (counter, by) in other.increments {
            self.increment(counter, by);
        }
        for nudge in other.nudges {
            self.nudge(nudge);
        }
        self.stream_ends.extend(other.stream_ends);
        self.not_after = crate::time::earliest([self.not_after, other.not_after]);
        self.limits_queues |= other.limits_queues;
    }

    /// Replaces a loaded record.
    pub fn put(&mut self, record: impl Into<Record>) {
        self.writes.push(Write::Put(record.into()));
    }

    /// Creates a record that must not exist.
    pub fn create(&mut self, record: impl Into<Record>) {
        self.writes.push(Write::Create {
            record: record.into(),
            ttl: None,
        });
    }

    /// Creates a record that must not exist and is gone by itself after `ttl`.
    pub fn create_for(&mut self, record: impl Into<Record>, ttl: Duration) {
        self.writes.push(Write::Create {
            record: record.into(),
            ttl: Some(ttl),
        });
    }

    /// Deletes a loaded record.
    pub fn delete(&mut self, key: RecordKey) {
        self.writes.push(Write::Delete(key));
    }

    /// Requires a record to be unchanged, or absent if it was not there.
    pub fn guard(&mut self, key: RecordKey) {
        if !self.guards.contains(&key) {
            self.guards.push(key);
        }
    }

    /// Moves a counter; moves that cancel out leave no trace.
    pub fn increment(&mut self, counter: CounterKey, by: i64) {
        if let Some(entry) = self.increments.iter_mut().find(|(key, _)| *key == counter) {
            entry.1 += by;
        } else {
            self.increments.push((counter, by));
        }
        self.increments.retain(|(_, by)| *by != 0);
    }

    /// Asks for a record to be evaluated.
    pub fn nudge(&mut self, nudge: Nudge) {
        if !self.nudges.contains(&nudge) {
            self.nudges.push(nudge);
        }
    }

    /// The execution this draft writes, if it writes one with this id.
    pub fn execution(&self, id: ExecutionId) -> Option<&crate::record::Execution> {
        self.writes.iter().rev().find_map(|write| match write {
            Write::Put(Record::Execution(execution)) if execution.id == id => Some(&**execution),
            Write::Create {
                record: Record::Execution(execution),
                ..
            } if execution.id == id => Some(&**execution),
            _ => None,
        })
    }
}

impl Nudge {
    /// Evaluates `key` whatever the counters say.
    pub const fn always(key: RecordKey) -> Self {
        Self {
            key,
            only_at_zero: None,
        }
    }

    /// Evaluates `key` once `counter` has reached zero.
    pub const fn at_zero(key: RecordKey, counter: CounterKey) -> Self {
        Self {
            key,
            only_at_zero: Some(counter),
        }
    }
}

/// What a member's change means for the counters of its flow; `None` is before its creation or after its deletion.
pub(crate) fn count_member(
    draft: &mut Draft,
    flow: crate::id::FlowId,
    before: Option<PublicState>,
    after: Option<PublicState>,
) {
    use crate::record::FlowCounter;
    let steps = [(before, -1), (after, 1)];
    for (state, by) in steps.into_iter().filter_map(|(state, by)| Some((state?, by))) {
        draft.increment(CounterKey::Flow(flow, FlowCounter::State(state)), by);
        draft.increment(CounterKey::Flow(flow, FlowCounter::Members), by);
        if !state.is_terminal() {
            draft.increment(CounterKey::Flow(flow, FlowCounter::Open), by);
        }
    }
}
