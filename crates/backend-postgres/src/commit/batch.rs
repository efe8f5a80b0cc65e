//! Transactions as the rows of one call.

use std::collections::BTreeMap;

use ff_backend::codec::{counter, key, line, record};
use ff_backend::hint::Hint;
use ff_backend::transaction::{Put, Role, Transaction, Version};
use ff_core::id::ExecutionId;
use ff_core::machine::placement::due_at;
use ff_core::partition::Partition;
use ff_core::record::{AboutLines, HistoryLine, HistorySubject, Record, RecordKey};
use ff_core::time::Timestamp;

use crate::queues::Plan;
use crate::rows::{
    EntryGone, EntryPut, ExecutionGone, ExecutionPut, ExpectedExecution, ExpectedRecord, Increment, LinePut, NudgePut,
    NudgeSeen, PayloadPut, RecordGone, RecordPut, StreamEnded, Told, Wanted,
};
use crate::shared::{duration, millis, number};

mod execution;

use self::execution::execution_put;

/// The rows of one call; `library/commit.sql` says what becomes of them.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) transactions: Vec<Wanted>,
    pub(super) must_exist: i32,
    pub(super) expected_executions: Vec<ExpectedExecution>,
    pub(super) expected_records: Vec<ExpectedRecord>,
    pub(super) guards: Vec<ExpectedRecord>,
    pub(super) created: Vec<ExecutionPut>,
    pub(super) replaced: Vec<ExecutionPut>,
    pub(super) deleted: Vec<ExecutionGone>,
    pub(super) created_records: Vec<RecordPut>,
    pub(super) replaced_records: Vec<RecordPut>,
    pub(super) deleted_records: Vec<RecordGone>,
    pub(super) remains: Vec<ExecutionGone>,
    pub(super) leaves: Vec<EntryGone>,
    pub(super) enters: Vec<EntryPut>,
    pub(super) increments: Vec<Increment>,
    pub(super) nudges: Vec<NudgePut>,
    pub(super) cleared: Vec<NudgeSeen>,
    /// Those of executions that are created.
    pub(super) first_payloads: Vec<PayloadPut>,
    pub(super) payloads: Vec<PayloadPut>,
    pub(super) lines: Vec<LinePut>,
    pub(super) told: Vec<Told>,
    pub(super) ends: Vec<StreamEnded>,
}

/// The lines of one transaction, by subject.
type Lines<'t> = BTreeMap<HistorySubject, Vec<&'t HistoryLine>>;

impl Batch {
    /// The rows of these transactions. What is found of them is known by its place, so it is sorted as the store finds it.
    pub(super) fn of(transactions: &[&Transaction], plan: &Plan) -> Self {
        let mut batch = Self::default();
        for (tx, transaction) in (1..).zip(transactions) {
            batch.expect(tx, transaction);
        }
        // One gate is written and another one guarded on, which others may do the other way round: they are locked alike, in one order.
        if batch.expected_records.iter().any(is_gate) {
            batch.expected_records.append(&mut batch.guards);
        }
        batch.expected_executions.sort_by_key(|row| (row.partition, row.uuid));
        for rows in [&mut batch.expected_records, &mut batch.guards] {
            rows.sort_by(|left, right| record_order(left).cmp(&record_order(right)));
        }
        let found = Found::of(&batch);
        for (nth, transaction) in transactions.iter().enumerate() {
            batch.add(nth, transaction, plan, &found);
        }
        let order = |row: &ExecutionPut| (row.partition, row.uuid);
        batch.created.sort_by_key(order);
        let is_first = |put: &PayloadPut| {
            let own = (put.partition, put.uuid);
            batch.created.binary_search_by_key(&own, order).is_ok()
        };
        (batch.first_payloads, batch.payloads) = std::mem::take(&mut batch.payloads).into_iter().partition(is_first);
        batch
    }

    fn expect(&mut self, tx: i32, transaction: &Transaction) {
        self.transactions.push(Wanted {
            generation: transaction.generation.map(|generation| generation.0.cast_signed()),
            not_after: transaction.not_after.map(millis),
        });
        let partition = number(transaction.partition);
        let execution = |nth, id: ExecutionId, (version, tag)| ExpectedExecution {
            tx,
            nth,
            partition,
            uuid: id.uuid(),
            version,
            tag,
        };
        for (nth, (role, key, expected)) in (0..).zip(transaction.expectations()) {
            self.must_exist += i32::from(expected.is_some());
            let (version, tag) = columns(expected);
            if let RecordKey::Execution(id) = key {
                self.expected_executions.push(execution(Some(nth), id, (version, tag)));
                continue;
            }
            let is_shared = role == Role::Guard && matches!(key, RecordKey::Gate(_));
            let rows = if is_shared {
                &mut self.guards
            } else {
                &mut self.expected_records
            };
            let key = key::name(&key);
            rows.push(ExpectedRecord {
                tx,
                nth,
                partition,
                key,
                version,
                tag,
            });
        }
        // Whatever is only told of an execution is written to it too.
        let told_of = transaction.history.iter().filter_map(|line| match line.subject {
            HistorySubject::Execution(id) => Some(id),
            HistorySubject::Flow(_) => None,
        });
        let is_put = |id: &ExecutionId| {
            let mut puts = transaction.puts.iter();
            puts.any(|put| put.record.key() == RecordKey::Execution(*id))
        };
        let only_told = told_of.filter(|id| !is_put(id));
        self.expected_executions
            .extend(only_told.map(|id| execution(None, id, (None, None))));
    }

    fn add(&mut self, nth: usize, transaction: &Transaction, plan: &Plan, found: &Found) {
        let partition = transaction.partition;
        let mut lines = Lines::new();
        for line in &transaction.history {
            self.told.push(told(partition, line));
            lines.entry(line.subject).or_default().push(line);
        }
        for put in &transaction.puts {
            match &put.record {
                Record::Execution(execution) => {
                    let own = lines
                        .remove(&HistorySubject::Execution(execution.id))
                        .unwrap_or_default();
                    let version = put.version(transaction.tag);
                    let mut row = execution_put(execution, version, &own, plan.queue_of(nth, execution.id));
                    row.at = put.expected.and_then(|_| found.execution(row.partition, execution.id));
                    let rows = if put.expected.is_some() {
                        &mut self.replaced
                    } else {
                        &mut self.created
                    };
                    rows.push(row);
                }
                _ => self.add_record(transaction, put, found),
            }
            self.move_in_lists(partition, put);
        }
        for delete in &transaction.deletes {
            let partition = number(partition);
            match &delete.key {
                RecordKey::Execution(id) => self.deleted.push(ExecutionGone {
                    at: found.execution(partition, *id),
                    partition,
                    uuid: id.uuid(),
                }),
                key => {
                    let key = key::name(key);
                    let at = found.record(partition, &key);
                    self.deleted_records.push(RecordGone { at, partition, key });
                }
            }
            self.leave(&delete.listed);
        }
        self.add_beside(nth, transaction);
        let partition = number(partition);
        for (subject, lines) in lines {
            let key = key::subject(subject);
            self.lines.extend(lines.into_iter().map(|own| LinePut {
                partition,
                key: key.clone(),
                line: line::write(own, None),
            }));
        }
    }

    fn add_record(&mut self, transaction: &Transaction, put: &Put, found: &Found) {
        let (partition, version) = (number(transaction.partition), put.version(transaction.tag));
        let key = key::name(&put.record.key());
        let seq = match &put.record {
            Record::Step(step) => Some(step.seq.cast_signed()),
            _ => None,
        };
        let row = RecordPut {
            at: put.expected.and_then(|_| found.record(partition, &key)),
            partition,
            key,
            version: version.counter.cast_signed(),
            tag: version.tag.0.cast_signed(),
            due_at: due_at(&put.record).map(millis),
            ttl_ms: put.ttl.map(duration),
            seq,
            body: record::write(&put.record),
        };
        let rows = if put.expected.is_some() {
            &mut self.replaced_records
        } else {
            &mut self.created_records
        };
        rows.push(row);
    }

    fn move_in_lists(&mut self, partition: Partition, put: &Put) {
        let moves = put.moves();
        self.leave(&moves.leaves);
        let key = key::name(&put.record.key());
        self.enters.extend(moves.enters.into_iter().map(|entry| EntryPut {
            name: entry.index.to_string(),
            sort: entry.order.as_str().to_owned(),
            partition: number(partition),
            key: key.clone(),
        }));
    }

    fn leave(&mut self, entries: &[ff_core::machine::index::Entry]) {
        self.leaves.extend(entries.iter().map(|entry| EntryGone {
            name: entry.index.to_string(),
            sort: entry.order.as_str().to_owned(),
        }));
    }

    /// What a transaction does besides writing records.
    fn add_beside(&mut self, nth: usize, transaction: &Transaction) {
        let (tx, partition) = (i32::try_from(nth).unwrap_or(i32::MAX), number(transaction.partition));
        self.increments
            .extend(transaction.increments.iter().map(|(counter, by)| {
                let (owner, name) = counter::name(*counter);
                Increment {
                    tx,
                    partition,
                    owner,
                    name,
                    by: *by,
                }
            }));
        for nudge in &transaction.nudges {
            let (zero_owner, zero_name) = nudge.only_at_zero.map(counter::name).unzip();
            self.nudges.push(NudgePut {
                tx,
                partition,
                key: key::name(&nudge.key),
                // The tag names the transaction, and a transaction nudges a record once: no two nudges share a stamp.
                stamp: transaction.tag.0.cast_signed(),
                zero_owner,
                zero_name,
            });
        }
        self.cleared
            .extend(transaction.clear_nudges.iter().map(|(key, stamp)| NudgeSeen {
                partition,
                key: key::name(key),
                stamp: stamp.0.cast_signed(),
            }));
        self.payloads
            .extend(transaction.blobs.iter().map(|(blob, payload)| PayloadPut {
                partition,
                uuid: blob.execution_id().uuid(),
                name: key::blob(*blob),
                content_type: payload.content_type.as_str().to_owned(),
                bytes: payload.bytes.to_vec(),
            }));
        self.remains
            .extend(transaction.delete_remains.iter().map(|id| ExecutionGone {
                at: None,
                partition,
                uuid: id.uuid(),
            }));
        for end in &transaction.stream_ends {
            let reason = serde_json::to_value(end.reason).expect("a reason is a word");
            self.ends.push(StreamEnded {
                partition,
                uuid: end.execution_id.uuid(),
                attempt_index: end.attempt_index.cast_signed(),
                at: millis(end.at),
                reason: reason.as_str().unwrap_or_default().to_owned(),
            });
        }
    }
}

/// What is worth a look once a transaction has landed.
pub(super) fn hints(transaction: &Transaction, now: Timestamp) -> impl Iterator<Item = Hint> {
    let partition = transaction.partition;
    let due = transaction.puts.iter().filter_map(|put| due_at(&put.record));
    let due = due.chain(transaction.nudges.iter().map(|_| now)).min();
    let told = transaction.history.first().map(|_| Hint::Feed { partition });
    let ends = transaction.stream_ends.iter().map(|end| Hint::Stream {
        execution_id: end.execution_id,
        attempt_index: end.attempt_index,
    });
    due.map(|at| Hint::Due { partition, at })
        .into_iter()
        .chain(told)
        .chain(ends)
}

/// Where the store finds what must be there, counted from 1.
struct Found {
    executions: BTreeMap<(i16, uuid::Uuid), i32>,
    records: BTreeMap<(i16, String), i32>,
}

impl Found {
    fn of(batch: &Batch) -> Self {
        let executions = batch.expected_executions.iter().filter(|row| row.version.is_some());
        let records = batch.expected_records.iter().filter(|row| row.version.is_some());
        Self {
            executions: executions.map(|row| (row.partition, row.uuid)).zip(1..).collect(),
            records: records.map(|row| (row.partition, row.key.clone())).zip(1..).collect(),
        }
    }

    fn execution(&self, partition: i16, id: ExecutionId) -> Option<i32> {
        self.executions.get(&(partition, id.uuid())).copied()
    }

    fn record(&self, partition: i16, key: &str) -> Option<i32> {
        self.records.get(&(partition, key.to_owned())).copied()
    }
}

fn record_order(row: &ExpectedRecord) -> (bool, i16, &str) {
    (is_gate(row), row.partition, &row.key)
}

fn is_gate(row: &ExpectedRecord) -> bool {
    row.key.starts_with("gate:")
}

fn columns(version: Option<Version>) -> (Option<i64>, Option<i64>) {
    version
        .map(|version| (version.counter.cast_signed(), version.tag.0.cast_signed()))
        .unzip()
}

/// A line as the feed is told it: what it is about stands beside it.
fn told(partition: Partition, line: &HistoryLine) -> Told {
    let about = AboutLines {
        subject: line.subject,
        namespace: std::borrow::Cow::Borrowed(&line.namespace),
        lane: line.lane.as_ref().map(std::borrow::Cow::Borrowed),
        flow_id: line.flow_id,
        kind: std::borrow::Cow::Borrowed(&line.kind),
    };
    Told {
        partition: number(partition),
        key: key::subject(line.subject),
        namespace: line.namespace.to_string(),
        lane: line.lane.as_ref().map(ToString::to_string),
        kind: line.kind.clone(),
        flow_id: line.flow_id.map(|flow_id| flow_id.uuid()),
        line: line::write(&line.event(), Some(&about)),
    }
}
