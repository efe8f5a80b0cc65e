//! Random transactions.

use ff_backend::load::Snapshot;
use ff_backend::transaction::{Delete, Put, Tag, Transaction};
use ff_core::id::ExecutionId;
use ff_core::machine::decided::Nudge;
use ff_core::name::LaneId;
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, HistoryLine, RecordKey};
use uuid::Uuid;

use super::luck::Luck;
use super::world::{counters, executions, fresh, keys, submission};

/// How long all processes try to submit the same executions, in milliseconds of the store's time.
const TOGETHER_MS: u64 = 20;

/// A batch over a partition as it was read: what it changes, somebody else may have changed by now.
pub(super) fn batch(luck: &mut Luck, snapshot: &Snapshot) -> Vec<Transaction> {
    let count = 1 + luck.below(4);
    (0..count).map(|_| transaction(luck, snapshot)).collect()
}

fn transaction(luck: &mut Luck, snapshot: &Snapshot) -> Transaction {
    let partition = snapshot.partition;
    let mut transaction = Transaction::new(partition, Tag(luck.number()));
    for key in luck.some(&keys(partition), 3) {
        touch(luck, snapshot, &mut transaction, key);
    }
    if !transaction.puts.is_empty() {
        let moved = luck.some(&counters(partition), 3).into_iter();
        transaction.increments = moved.map(|counter| (counter, 1)).collect();
    }
    let nudged = luck.some(&keys(partition), 3).into_iter();
    transaction.nudges = nudged.map(Nudge::always).collect();
    let seen: Vec<_> = snapshot
        .nudges
        .iter()
        .map(|(key, stamp)| (key.clone(), *stamp))
        .collect();
    transaction.clear_nudges = luck.some(&seen, 3);
    let told_of = luck.some(&executions(partition), 2).into_iter();
    transaction.history = told_of.map(|id| line(id, snapshot)).collect();
    let put = transaction.puts.iter().filter_map(|put| match put.record.key() {
        RecordKey::Execution(id) => Some((BlobKey::Result(id), Payload::binary("result"))),
        _ => None,
    });
    transaction.blobs = put.collect();
    transaction
}

/// Writes, deletes or guards a record.
fn touch(luck: &mut Luck, snapshot: &Snapshot, transaction: &mut Transaction, key: RecordKey) {
    let record = fresh(snapshot.partition, &key, snapshot.now);
    let Some((before, version)) = snapshot.records.get(&key) else {
        return transaction.puts.push(Put::create(record));
    };
    match luck.below(6) {
        0 => {
            transaction.deletes.push(Delete::of((before, *version)));
            if let RecordKey::Execution(id) = key {
                transaction.delete_remains.push(id);
            }
        }
        1 => transaction.guards.push((key, Some(*version))),
        _ => transaction.puts.push(Put::replace(record, (before, *version))),
    }
}

/// A line about an execution that the transaction need not write: a waitpoint's end is told so.
fn line(id: ExecutionId, snapshot: &Snapshot) -> HistoryLine {
    let draft = submission(id, LaneId::default_lane(), snapshot.now);
    draft.history.into_iter().next().expect("a submission is told of")
}

/// New executions in any order, the same ones for all processes that submit at this moment.
pub(super) fn submissions(luck: &mut Luck, snapshot: &Snapshot) -> Vec<Transaction> {
    let window = u128::from(snapshot.now.as_millis() / TOGETHER_MS) << 32;
    let ids: Vec<u128> = (0..4).map(|number| window | number).collect();
    let submitted = luck.some(&ids, 4).into_iter().map(|number| {
        let id = ExecutionId::new(snapshot.partition.index, Uuid::from_u128(number));
        let draft = submission(id, LaneId::default_lane(), snapshot.now);
        let empty = Snapshot::empty(snapshot.partition, snapshot.now);
        Transaction::bind(draft, &empty, Tag(luck.number()))
    });
    submitted.collect()
}
